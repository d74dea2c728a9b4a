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
      |in Scala, Java and Python. The message begins with the condition in brackets and ends with the
      |SQLSTATE, such as `SQLSTATE: 42616`. Words in angle brackets are parameters of the message.
      |
      |All conditions of an area have the same SQLSTATE, which `getSqlState()` returns. The SQLSTATE
      |determines the reaction of an orchestrator. Spark wraps the errors of running streams and of tasks.
      |The text of such an exception contains the message. If the text has several SQLSTATEs, use the
      |SQLSTATE of the area in brackets. `getSqlState()` of such an exception returns the SQLSTATE of
      |Spark's error.
      |
      || SQLSTATE | Areas | Reaction |
      || --- | --- | --- |
      || `08001` | `SPLICE_KAFKA_CONNECTION`, `SPLICE_METADATA_CONNECTION` | **Retry**: start the query again. Alert if the error continues. |
      || `0A000` | `SPLICE_CONTINUOUS`, `SPLICE_REAL_TIME`, `SPLICE_SOURCE` | **Fix the query**: use another trigger, source or sink. |
      || `22000` | `SPLICE_ADMISSION`, `SPLICE_FILES_DATA`, `SPLICE_HAND_OVER_DATA`, `SPLICE_KAFKA_DATA` | **Alert**: restore or correct the data, or accept the difference with the option in the message. |
      || `28000` | `SPLICE_KAFKA_ACCESS` | **Alert**: correct the credentials or the certificates. |
      || `42601` | `SPLICE_SELECT` | **Fix the query**: correct the SELECT list of the leg. |
      || `42616` | `SPLICE_BUILDER`, `SPLICE_FILES_OPTION`, `SPLICE_HAND_OVER`, `SPLICE_HYBRID`, `SPLICE_KAFKA_OPTION`, `SPLICE_METADATA`, `SPLICE_OPTION`, `SPLICE_STREAM_OPTION`, `SPLICE_TABLE_OPTION` | **Fix the query**: correct the options, the metadata (`SPLICE_METADATA`) or the custom rule (`SPLICE_HAND_OVER`). |
      || `42K03` | `SPLICE_FILES`, `SPLICE_STREAM` | **Fix the query**: correct the paths, restore the files, or correct the stream. |
      || `42K09` | `SPLICE_SCHEMA` | **Fix the query**: correct the columns of the leg. |
      || `42P01` | `SPLICE_TABLE` | **Fix the query**: correct the table or its version, or restore the files of the version. |
      || `55000` | `SPLICE_DYNAMIC_KAFKA`, `SPLICE_SETUP` | **Alert**: choose a remedy in the message. |
      || `55019` | `SPLICE_CHECKPOINT` | **Alert**: restore the checkpoint or the previous options. |
      || `58030` | `SPLICE_KAFKA` | **Alert**: the brokers rejected a request, or the Kafka client could not be created. Check the rights of the user, the security properties and the brokers. |
      |
      |A retry alone helps only with `08001`, and with `SPLICE_FILES_DATA.FILE_NOT_READABLE` if a storage was unavailable.
      |Other errors occur again until the cause is corrected.""".stripMargin

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
    ofModules(root) :+ root.resolve("python/src/splice/_internal/error-conditions.json")

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
