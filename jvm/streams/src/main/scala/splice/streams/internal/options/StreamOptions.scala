// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.options

import splice.source.errors.OptionErrors
import splice.source.options.SourceOptions.fold
import splice.source.options.{CommonOptions, OptionSet, OptionType, SourceOption, SourceOptions}

/** Options of the stream source. All other keys are options of the wrapped stream and are passed on unchanged. */
private[splice] object StreamOptions {

  private val Name = OptionType[String]("a name", text => Some(text.trim).filter(_.nonEmpty))

  val Format: SourceOption[String] = SourceOption(
    "format",
    Name,
    "Format of the stream, as in 'spark.readStream.format', such as 'iceberg', 'rate' or the name of a " +
      "Python data source. The format must be a Data Source V2 with a micro-batch stream. Set either 'format' or 'table'."
  )

  val Table: SourceOption[String] = SourceOption(
    "table",
    Name,
    "Table of a catalog, as in 'spark.readStream.table', such as 'lake.db.orders'. Set either 'format' or 'table'."
  )

  val Bounded: SourceOption[Boolean] = SourceOption(
    "bounded",
    OptionType.Bool,
    "If 'true', the stream ends after Splice has read all rows that were available at the start of a run. A leg that " +
      "another leg follows needs this value. The stream must support Trigger.AvailableNow. If 'false', the stream has no end."
  ).withDefault(false, "false")

  private val ofSplice: Seq[SourceOption[_]] = Seq(Format, Table, Bounded)

  // A key that resembles an option of Splice is treated as a typing error, because a format may ignore the key silently.
  val set: OptionSet = OptionSet(
    "Streams",
    ofSplice,
    others = key => ofSplice.map(_.key).forall(OptionSet.distance(key, _) > 1)
  )

  private val own = (ofSplice ++ CommonOptions.set.options).map(option => fold(option.key)).toSet

  /** True if the option is passed to the wrapped stream. */
  private[streams] def isOfStream(key: String): Boolean = !own(fold(key))
}

/** Origin of the wrapped stream. */
sealed private[streams] trait StreamOrigin extends Product with Serializable {

  /** Key of the option that sets the origin. */
  def key: String

  def name: String

  override def toString: String = s"$key '$name'"
}

private[streams] object StreamOrigin {

  final case class Format(name: String) extends StreamOrigin {
    override def key: String = StreamOptions.Format.key
  }

  final case class Table(name: String) extends StreamOrigin {
    override def key: String = StreamOptions.Table.key
  }
}

/** Parsed options of one stream source.
  *
  * @param inner
  *   options of the wrapped stream, with the case of keys that the user wrote
  * @param prefix
  *   option prefix of the leg, such as `history.`
  */
final private[streams] case class StreamSettings(
    origin: StreamOrigin,
    isBounded: Boolean,
    inner: Map[String, String],
    prefix: String
) {

  /** Name of an option in errors, with the prefix of its leg. */
  def name(key: String): String = prefix + key
}

private[streams] object StreamSettings {

  /** @throws splice.source.errors.SpliceOptionException if an option is missing or invalid */
  def apply(options: SourceOptions): StreamSettings = {
    val origin = (options.find(StreamOptions.Format), options.find(StreamOptions.Table)) match {
      case (Some(format), None) => StreamOrigin.Format(format)
      case (None, Some(table))  => StreamOrigin.Table(table)
      case (None, None)         =>
        throw OptionErrors.missing(options.name(StreamOptions.Format.key), StreamOptions.Format.doc)
      case _ => throw OptionErrors.conflict(
          Seq(StreamOptions.Format, StreamOptions.Table).map(o => options.name(o.key)),
          "exactly one of these options must be set; remove the other option"
        )
    }
    StreamSettings(
      origin,
      options(StreamOptions.Bounded),
      options.toMap.filter { case (key, _) => StreamOptions.isOfStream(key) },
      options.name("")
    )
  }
}
