// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.options

import scala.collection.immutable.SortedMap

import splice.source.SourceSpec
import splice.source.errors.OptionErrors
import splice.source.internal.Secrets
import splice.source.options.SourceOptions.fold
import splice.source.options.{CommonOptions, FailOrWarn, SourceOptions}

/** Parsed options of one table source.
  *
  * @param reader
  *   options for Spark's reader
  * @param requested
  *   option that selects a version, and its text
  * @param width
  *   option that sets the width or the number of the slices, and its text
  * @param prefix
  *   option prefix of the leg, such as `history.`
  */
final private[splice] case class TableSettings(
    of: TableSettings.Place,
    reader: Map[String, String],
    where: Option[String],
    requested: Option[(String, String)],
    onNoVersion: FailOrWarn,
    sliceBy: Option[String],
    sliceEvery: Option[SliceStep],
    slices: Option[Int],
    width: Option[(String, String)],
    maxBytes: Option[Long],
    prefix: String
) {
  import TableSettings._

  /** Name of an option in errors, with the prefix of its leg. */
  def name(key: String): String = prefix + key

  /** Name of the table for errors and plans, without secrets. */
  def shown: String = of match {
    case Named(table)   => table
    case Format(format) =>
      TableOptions.places.flatMap(key => find(key).map(Secrets.redact(key, _))).headOption.fold(format)(at =>
        s"$format.`$at`"
      )
  }

  /** Value of an option of Spark's reader. */
  def find(key: String): Option[String] = reader.collectFirst { case (k, v) if fold(k) == fold(key) => v }

  /** Values that define the rows and the slices. */
  def identity: SortedMap[String, String] = SortedMap.from(
    (of match {
      case Named(table)   => Seq(TableOptions.Table.key -> table)
      case Format(format) =>
        (TableOptions.Format.key -> format) +:
          TableOptions.places.flatMap(key => find(key).map(v => key -> Secrets.redact(key, v)))
    }) ++
      where.map(TableOptions.Where.key -> _) ++
      ownVersion ++
      sliceBy.map(TableOptions.SliceBy.key -> _) ++
      width
  )

  /** Option of a format that selects a version, such as the instant of Hudi. */
  def ownVersion: Option[(String, String)] = versionKeys.flatMap(key => find(key).map(key -> _)).headOption
}

private[splice] object TableSettings {

  /** Place of the table. */
  sealed trait Place extends Product with Serializable

  /** Table or view in a catalog. */
  final case class Named(table: String) extends Place

  /** Table of a format, which the options of the format locate. */
  final case class Format(name: String) extends Place

  /** Options of Hudi, Paimon and Iceberg that select a version. */
  private val versionKeys =
    Seq("as.of.instant", "scan.snapshot-id", "scan.tag-name", "scan.version", "snapshot-id", "tag")

  /** @throws splice.source.errors.SpliceOptionException if an option is missing, invalid or not supported */
  def apply(options: SourceOptions): TableSettings = {
    import TableOptions._
    def conflict(a: String, b: String, reason: String) =
      if (options.contains(a) && options.contains(b))
        throw OptionErrors.conflict(Seq(a, b).map(options.name), reason)
    def needs(key: String, other: String) =
      if (options.contains(key) && !options.contains(other))
        throw OptionErrors.missing(options.name(other), s"'${options.name(key)}' needs this option.")
    conflict(
      Table.key,
      TableOptions.Format.key,
      "Set 'table' for a table in a catalog, or 'format' for any other table."
    )
    conflict(VersionAsOf.key, TimestampAsOf.key, "Set one of them to select a version.")
    conflict(SliceEvery.key, Slices.key, "Set the width or the number of the slices.")
    Seq(SliceEvery, Slices).foreach(option => needs(option.key, SliceBy.key))
    val place = options.find(Table).map(Named(_)).getOrElse(format(options))
    val known = (ofSplice ++ CommonOptions.set.options).map(o => fold(o.key)).toSet
    TableSettings(
      place,
      options.toMap.filter { case (key, _) => !known(fold(key)) },
      options.find(Where),
      options.find(VersionAsOf).map(VersionAsOf.key -> _)
        .orElse(options.find(TimestampAsOf).map(TimestampAsOf.key -> _)),
      options(NoVersion),
      options.find(SliceBy),
      options.find(SliceEvery),
      options.find(Slices),
      Seq(SliceEvery, Slices).flatMap(option => options.get(option.key).map(option.key -> _.trim)).headOption,
      options.find(MaxBytesPerTrigger),
      options.name("")
    )
  }

  private def format(options: SourceOptions): Place = {
    val format = options.find(TableOptions.Format).getOrElse {
      throw OptionErrors.missing(options.name(TableOptions.Table.key), TableOptions.Table.doc)
    }
    if (fold(format) == SourceSpec.Format)
      throw OptionErrors.invalidValue(
        options.name(TableOptions.Format.key),
        format,
        "a format of Spark other than Splice",
        TableOptions.Format.doc
      )
    Format(format)
  }
}
