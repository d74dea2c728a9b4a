// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables

import scala.collection.immutable.ListMap

import splice.source.options.{OptionSetters, SourceOptions}
import splice.source.{SourceProvider, SourceSpec}
import splice.tables.internal.options.TableOptions

/** Immutable builder of a table source. Each method returns a new builder. */
final class TableSourceBuilder private[tables] (entries: Seq[(String, String)])
    extends OptionSetters[TableSourceBuilder] {

  /** Sets an option of the table source or of the format. The last value of an option wins. */
  override def option(key: String, value: String): TableSourceBuilder =
    new TableSourceBuilder(entries.filterNot(_._1.equalsIgnoreCase(key)) :+ (key -> value))

  /** Sets the SQL predicate that the rows must fulfil. */
  def where(predicate: String): TableSourceBuilder = option(TableOptions.Where.key, predicate)

  /** Sets the version to read: a version of Delta, or a snapshot id, branch or tag of Iceberg. */
  def versionAsOf(version: String): TableSourceBuilder = option(TableOptions.VersionAsOf.key, version)

  /** Sets the time whose version is read, such as `2026-11-01 00:00:00` in the time zone of the session. */
  def timestampAsOf(time: String): TableSourceBuilder = option(TableOptions.TimestampAsOf.key, time)

  /** Sets the policy for a table without versions: `fail` (default) or `warn`. */
  def onNoVersion(policy: String): TableSourceBuilder = option(TableOptions.NoVersion.key, policy)

  /** Sets the column whose values divide the table into slices. */
  def sliceBy(column: String): TableSourceBuilder = option(TableOptions.SliceBy.key, column)

  /** Sets the width of a slice: a duration such as `1d`, or a number. */
  def sliceEvery(width: String): TableSourceBuilder = option(TableOptions.SliceEvery.key, width)

  /** Sets the number of slices, from 1 to 10000. */
  def slices(number: Int): TableSourceBuilder = option(TableOptions.Slices.key, number.toLong)

  /** Sets the maximum size of a batch, such as `8g`. */
  def maxBytesPerTrigger(size: String): TableSourceBuilder = option(TableOptions.MaxBytesPerTrigger.key, size)

  /** Builds the source specification. Checks the options without access to the table.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if an option is unknown, missing or invalid
    */
  def build(): SourceSpec = {
    val spec = SourceSpec(ListMap.from(entries))
    val _    = SourceProvider.create(SourceOptions(spec.options))
    spec
  }
}
