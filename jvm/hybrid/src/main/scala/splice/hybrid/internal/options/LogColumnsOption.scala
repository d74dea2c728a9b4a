// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import scala.util.Try

import com.fasterxml.jackson.core.StreamReadFeature
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.json.JsonMapper

import splice.hybrid.LogColumns
import splice.hybrid.internal.chain.HybridColumns
import splice.source.OffsetColumns
import splice.source.errors.{OptionErrors, SpliceOptionException}
import splice.source.internal.entries.Json
import splice.source.options.{OptionType, SourceOption, SourceOptions}

/** Option `logColumns` of a leg, and its JSON in the checkpoint. */
private[splice] object LogColumnsOption {

  private val Excluded = "none"
  private val Keys     = Seq("topic", "partition", "offset")
  private val Allowed  =
    """none, or a JSON object with the names of columns, such as {"topic":"t","partition":"p","offset":"o"}"""

  val Columns: SourceOption[String] = SourceOption(
    "logColumns",
    OptionType[String](Allowed, text => Some(text.trim)),
    "Columns of this leg that identify a record of the log: topic, partition and offset. Without a topic, all rows of " +
      "the leg belong to the only topic of the log. 'none' excludes the leg from the exact hand-over of a later leg. " +
      "Default: the columns that the hand-over of the later leg sets."
  )

  // By default, Jackson silently uses the last value of a duplicate key.
  private val mapper = JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build()

  /** Columns of a leg; None if the option is not set.
    *
    * @throws SpliceOptionException
    *   if the value is neither `none` nor a JSON object with the correct keys
    */
  def parse(options: SourceOptions): Option[LogColumns] = options.find(Columns).map { text =>
    if (text.equalsIgnoreCase(Excluded)) LogColumns.Excluded
    else {
      val node = Try(mapper.readTree(text)).toEither.left.map(e => e.getMessage.linesIterator.next())
      node.flatMap(read).flatMap(distinct).fold(why => throw invalid(options.name(Columns.key), text, why), identity)
    }
  }

  /** Error for an invalid value. */
  def invalid(option: String, value: String, why: String): SpliceOptionException =
    OptionErrors.invalidValue(option, value, s"$Allowed ($why)", Columns.doc)

  /** Option value for columns. */
  def text(columns: LogColumns): String = columns match {
    case LogColumns.Excluded     => Excluded
    case named: LogColumns.Named => Json.write(json(named))
  }

  def json(columns: LogColumns.Named): JsonNode =
    Json.obj(names(columns).map { case (key, name) => key -> Json.text(name) }: _*)

  /** Pairs of key and column name. */
  private def names(columns: LogColumns.Named): Seq[(String, String)] = {
    val offsets = columns.offsets
    offsets.topic.map("topic" -> _).toSeq ++ Seq("partition" -> offsets.partition, "offset" -> offsets.offset)
  }

  /** The part of a stored node that this version uses. Earlier versions also stored a timestamp and a key. */
  def needed(node: JsonNode): JsonNode =
    Json.obj(Json.fields(node).filter { case (key, _) => Keys.contains(key) }: _*)

  /** Parses the result of [[json]]. Left = the reason why the node is invalid. */
  def read(node: JsonNode): Either[String, LogColumns.Named] = {
    val fields  = Json.fields(node)
    val unknown = fields.map(_._1).filterNot(Keys.contains)
    val missing = Keys.tail.filterNot(fields.map(_._1).contains)
    val bad     = fields.filterNot { case (_, name) => name.isTextual && name.asText.trim.nonEmpty }
    if (!node.isObject) Left("the value is not an object")
    else if (unknown.nonEmpty) Left(s"'${unknown.head}' is not one of ${Keys.mkString(", ")}")
    else if (missing.nonEmpty) Left(s"'${missing.head}' is missing")
    else if (bad.nonEmpty) Left(s"'${bad.head._1}' does not name a column")
    else {
      val by = fields.map { case (key, name) => key -> name.asText.trim }.toMap
      Right(LogColumns.Named(OffsetColumns(by.get("topic"), by("partition"), by("offset"))))
    }
  }

  private def distinct(columns: LogColumns.Named): Either[String, LogColumns.Named] =
    repeated(names(columns)).toLeft(columns)

  /** Reason for a conflict, if two roles have the same column. */
  def repeated(names: Seq[(String, String)]): Option[String] = names.combinations(2).collectFirst {
    case Seq((a, name), (b, other)) if HybridColumns.same(name, other) => s"'$a' and '$b' are the same column '$name'"
  }
}
