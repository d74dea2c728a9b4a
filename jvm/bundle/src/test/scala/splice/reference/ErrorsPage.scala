// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json

/** Page of all error conditions, from the error files of the modules. */
object ErrorsPage {

  private val intro =
    """Each error of Splice has a condition, as Spark's errors do. `getCondition()` returns the condition
      |in Scala, Java and Python. The message begins with the condition in brackets. Words in angle
      |brackets are parameters of the message.""".stripMargin

  /** @param root root folder of the repository */
  def text(root: Path): String =
    Markdown.page(
      "Errors",
      intro +: areas(root).toSeq.sortBy(_._1).flatMap { case (name, nodes) => family(name, nodes) }
    )

  // Modules may share an area, such as the area of connections to Kafka.
  private def areas(root: Path): Map[String, Seq[JsonNode]] = conditions(root).groupMap(_._1)(_._2)

  private def conditions(root: Path): Seq[(String, JsonNode)] = files(root).flatMap { file =>
    Json.read(Files.readString(file)).map(Json.fields).getOrElse(throw new IllegalStateException(s"$file is not JSON"))
  }

  private def files(root: Path): Seq[Path] =
    ofModules(root) :+ root.resolve("python/src/splice/error-conditions.json")

  // The testkit is excluded, because the jar does not contain it.
  private def ofModules(root: Path): Seq[Path] = Using.resource(Files.list(root.resolve("jvm"))) { modules =>
    modules.iterator.asScala.filterNot(_.endsWith("testkit")).toSeq.flatMap(m =>
      within(m.resolve("src/main/resources/splice"))
    )
  }

  private def within(folder: Path): Seq[Path] =
    if (!Files.exists(folder)) Nil
    else
      Using.resource(Files.walk(folder))(_.iterator.asScala.filter(_.getFileName.toString ==
        "error-conditions.json").toSeq)

  private def family(name: String, nodes: Seq[JsonNode]): Seq[String] = {
    val parts = nodes.flatMap(Json.field(_, "subClass")).flatMap(Json.fields)
    val state = nodes.flatMap(Json.field(_, "sqlState")).map(s => s"SQL state ${Markdown.code(s.asText)}.")
    val head  = Seq(s"## $name", (nodes.map(message) ++ state).distinct.mkString(" "))
    head ++ parts.sortBy(_._1).flatMap { case (part, inner) => Seq(s"### $name.$part", s"> ${message(inner)}") }
  }

  private def message(node: JsonNode): String =
    Markdown.text(Json.field(node, "message").toSeq.flatMap(Json.items).map(_.asText).mkString(" "))
}
