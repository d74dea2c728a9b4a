// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode

import splice.source.Json

/** Page of all error conditions, from the error files of the modules. */
object ErrorsPage {

  private val intro =
    """Each error of Splice carries a condition, as Spark's own errors do: `getCondition()` gives it in Scala, Java and Python, and
      |the message begins with it in brackets. Words in angle brackets stand for what the error found.""".stripMargin

  /** @param root root folder of the repository */
  def text(root: Path): String =
    Markdown.page("Errors", intro +: conditions(root).sortBy(_._1).flatMap { case (name, node) => family(name, node) })

  private def conditions(root: Path): Seq[(String, JsonNode)] = files(root).flatMap { file =>
    Json.read(Files.readString(file)).map(Json.fields).getOrElse(throw new IllegalStateException(s"$file is not JSON"))
  }

  // The testkit is excluded, because the jar does not contain it.
  private def files(root: Path): Seq[Path] = Using.resource(Files.list(root.resolve("jvm"))) { modules =>
    modules.iterator.asScala.filterNot(_.endsWith("testkit")).toSeq.flatMap(m =>
      within(m.resolve("src/main/resources/splice"))
    )
  }

  private def within(folder: Path): Seq[Path] =
    if (!Files.exists(folder)) Nil
    else
      Using.resource(Files.walk(folder))(_.iterator.asScala.filter(_.getFileName.toString ==
        "error-conditions.json").toSeq)

  private def family(name: String, node: JsonNode): Seq[String] = {
    val parts = Json.field(node, "subClass").toSeq.flatMap(Json.fields)
    val state = Json.field(node, "sqlState").map(s => s"SQL state ${Markdown.code(s.asText)}.")
    val head  = Seq(s"## $name", (Seq(message(node)) ++ state).mkString(" "))
    head ++ parts.sortBy(_._1).flatMap { case (part, inner) => Seq(s"### $name.$part", s"> ${message(inner)}") }
  }

  private def message(node: JsonNode): String =
    Markdown.text(Json.field(node, "message").toSeq.flatMap(Json.items).map(_.asText).mkString(" "))
}
