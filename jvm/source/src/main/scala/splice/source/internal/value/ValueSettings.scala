// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.value

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types._

import splice.source.errors.{OptionErrors, SpliceOptionException}
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** The settings for the values of records.
  *
  * @param fields
  *   the fields of a parsed value, which may all be null
  * @param options
  *   the options of the format, without the prefix
  * @param prefix
  *   the prefix of options in errors, such as `live.` for a leg
  */
final private[splice] case class ValueSettings(
    format: ValueFormat,
    fields: StructType,
    options: SortedMap[String, String],
    onError: OnParseError,
    prefix: String = ""
) {

  /** The type of the column value. */
  def dataType: DataType = format match {
    case ValueFormat.Raw  => BinaryType
    case ValueFormat.Text => StringType
    case ValueFormat.Json => fields
  }

  def parses: Boolean = format == ValueFormat.Json

  /** True if the rows have the column `_corrupt`, with the records whose values Splice could not parse. */
  def keepsCorrupt: Boolean = parses && onError == OnParseError.Corrupt
}

private[splice] object ValueSettings {

  /** Binary values without a conversion. */
  val Raw: ValueSettings = bare(ValueFormat.Raw)

  // `onParseError` replaces these options.
  private val rejected = Set("mode", "columnnameofcorruptrecord")

  /** @param reject
    *   returns the error of an option that must not be set, from its name and the reason
    * @throws splice.source.errors.SpliceOptionException
    *   when an option is missing, has an invalid value, or contradicts another option
    */
  def apply(options: SourceOptions)(reject: (String, String) => SpliceOptionException): ValueSettings = {
    val formatOptions = options.toMap.collect {
      case (key, text) if ValueOptions.isFormats(key) => key.drop(ValueOptions.FormatPrefix.length) -> text
    }
    formatOptions.keys.find(key => rejected(fold(key))).foreach { key =>
      val why = s"'${options.name(ValueOptions.OnError.key)}' defines the treatment of a value that cannot be " +
        "parsed. Remove this option"
      throw reject(options.name(ValueOptions.FormatPrefix + key), why)
    }
    options(ValueOptions.Format) match {
      case ValueFormat.Json =>
        val fields = options.find(ValueOptions.Schema).getOrElse {
          val doc =
            s"Fields of the column 'value', because '${options.name(ValueOptions.Format.key)}' is 'json'."
          throw OptionErrors.missing(options.name(ValueOptions.Schema.key), doc)
        }
        ValueSettings(
          ValueFormat.Json,
          fields.toNullable,
          SortedMap.from(formatOptions),
          options(ValueOptions.OnError),
          options.name("")
        )
      case other =>
        rejectWithoutParser(options, other, formatOptions.keys)
        bare(other)
    }
  }

  private def bare(format: ValueFormat): ValueSettings =
    ValueSettings(format, new StructType(), SortedMap.empty, OnParseError.Fail)

  private def rejectWithoutParser(options: SourceOptions, format: ValueFormat, keys: Iterable[String]): Unit = {
    val without = Seq(ValueOptions.Schema, ValueOptions.OnError).map(_.key) ++ keys.map(ValueOptions.FormatPrefix + _)
    without.find(options.contains).foreach { key =>
      val both = Seq(key, ValueOptions.Format.key).map(options.name)
      throw OptionErrors.conflict(
        both,
        s"a ${format.name} value is not parsed; set the format to 'json'"
      )
    }
  }
}
