// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.python

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.SparkSession

import splice.source.internal.HadoopConfiguration
import splice.source.internal.entries.Json
import splice.spark.internal.checkpoint.CheckpointCommands

/** Arguments of the commands for checkpoints, as JSON. The command line has checked their types. */
private[python] object CheckpointArguments {

  /** @throws IllegalArgumentException if the arguments do not match the checkpoint */
  def run(spark: SparkSession, command: String, folder: String, arguments: String): JsonNode = {
    val values                             = Json.readObject(arguments).getOrElse(Json.obj())
    def open(root: String)                 = new CheckpointCommands(root, HadoopConfiguration(spark))
    def text(name: String): Option[String] = Json.field(values, name).map(_.asText)
    def number(name: String): Option[Long] = Json.field(values, name).map(_.asLong)
    def properties: Map[String, String]    =
      Json.field(values, "kafka").toSeq.flatMap(Json.fields).map { case (key, value) => key -> value.asText }.toMap
    val checkpoint = open(folder)
    command match {
      case "show"    => checkpoint.show
      case "verify"  => checkpoint.verify(properties)
      case "offsets" => checkpoint.offsets(number("batch"), text("source"), text("part"))
      case "diff"    =>
        text("other").fold(checkpoint.difference(number("from").getOrElse(0L), number("until").getOrElse(0L))) {
          other =>
            checkpoint.difference(open(other))
        }
    }
  }
}
