// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.value

import scala.util.Try

import org.apache.spark.sql.types.StructType

import splice.source.options.SourceOptions.fold
import splice.source.options.{OptionType, SourceOption}

/** The options for the values of records. */
private[splice] object ValueOptions {

  /** The prefix of the options of a value's format. */
  val FormatPrefix = "value."

  val Format: SourceOption[ValueFormat] = SourceOption(
    "valueFormat",
    OptionType.choice[ValueFormat](ValueFormat.all.map(f => f.name -> f): _*),
    "Format of the column 'value'. 'raw' keeps the value binary. 'string' decodes the value as UTF-8. " +
      "'json' parses the value with 'valueSchema', like the Spark function 'from_json'. Options " +
      "'value.<option>' set the options of this function."
  ).withDefault(ValueFormat.Raw, ValueFormat.Raw.name)

  val Schema: SourceOption[StructType] = SourceOption(
    "valueSchema",
    OptionType(
      "column names with types, such as 'id BIGINT, amount DOUBLE'",
      ddl => Try(StructType.fromDDL(ddl)).toOption.filter(_.nonEmpty)
    ),
    "Fields of the column 'value', if 'valueFormat' is 'json'."
  )

  val OnError: SourceOption[OnParseError] = SourceOption(
    "onParseError",
    OptionType.choice[OnParseError](
      "fail"    -> OnParseError.Fail,
      "null"    -> OnParseError.Null,
      "corrupt" -> OnParseError.Corrupt
    ),
    "Policy for a value that Splice cannot parse. 'fail' ends the query with an error. 'null' sets the " +
      "column 'value' to null. 'corrupt' also sets the column 'value' to null, and adds topic, partition, " +
      "offset and bytes of the record in the column '_corrupt'."
  ).withDefault(OnParseError.Fail, "fail")

  val all: Seq[SourceOption[_]] = Seq(Format, Schema, OnError)

  /** True if an option belongs to the parser of values. */
  def isFormats(key: String): Boolean = fold(key).startsWith(FormatPrefix)
}

/** The format of the values of records. */
sealed abstract private[splice] class ValueFormat(val name: String) extends Product with Serializable

private[splice] object ValueFormat {

  /** Binary values without a conversion. */
  case object Raw extends ValueFormat("raw")

  /** Text in UTF-8. */
  case object Text extends ValueFormat("string")

  /** JSON objects, which Spark's function `from_json` parses. */
  case object Json extends ValueFormat("json")

  val all: Seq[ValueFormat] = Seq(Raw, Text, Json)
}

/** The treatment of a value that cannot be parsed. */
sealed private[splice] trait OnParseError extends Product with Serializable

private[splice] object OnParseError {
  case object Fail    extends OnParseError
  case object Null    extends OnParseError
  case object Corrupt extends OnParseError
}
