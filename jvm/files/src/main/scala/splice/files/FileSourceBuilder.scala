// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import scala.annotation.varargs
import scala.collection.immutable.ListMap

import org.apache.spark.sql.types.StructType

import splice.files.internal.options.{FileOptions, WatchOptions}
import splice.source.options.{OptionSetters, SourceOptions}
import splice.source.{SourceProvider, SourceSpec}

/** Immutable builder of a file source. Each method returns a new builder. */
final class FileSourceBuilder private[files] (entries: Seq[(String, String)]) extends OptionSetters[FileSourceBuilder] {

  /** Sets an option of the file source or of the file format. The last value of an option wins. */
  override def option(key: String, value: String): FileSourceBuilder =
    new FileSourceBuilder(entries.filterNot(_._1.equalsIgnoreCase(key)) :+ (key -> value))

  /** Sets the columns as DDL, such as `id BIGINT, name STRING`. Spark then does not infer the columns. */
  def schema(ddl: String): FileSourceBuilder = option(FileOptions.Schema.key, ddl)

  /** Sets the columns. Spark then does not infer the columns. */
  def schema(columns: StructType): FileSourceBuilder = option(FileOptions.Schema.key, columns.json)

  /** Sets the policy for paths without a file to read: `fail` or `warn`. Default: `fail` for a leg before another
    * leg, else `warn`.
    */
  def onEmpty(policy: String): FileSourceBuilder = option(FileOptions.Empty.key, policy)

  /** Sets the files to read: `list` for the files at the first start, or `watch` for files that arrive later, too. */
  def discovery(discovery: String): FileSourceBuilder = option(WatchOptions.Discovery.key, discovery)

  /** Sets the pause between two listings of a watched folder, such as `10s`. */
  def discoveryInterval(interval: String): FileSourceBuilder = option(WatchOptions.DiscoveryInterval.key, interval)

  /** Sets the time after which failing listings end the query, such as `10m`. */
  def discoveryTimeout(timeout: String): FileSourceBuilder = option(WatchOptions.DiscoveryTimeout.key, timeout)

  /** Sets the age from which files are read, such as `30s`. */
  def minFileAge(age: String): FileSourceBuilder = option(WatchOptions.MinFileAge.key, age)

  /** Sets a column of folder names that grows with time. Most listings skip folders with smaller values. */
  def partitionOrder(column: String): FileSourceBuilder = option(WatchOptions.PartitionOrder.key, column)

  /** Sets the interval of the listings of all folders with `partitionOrder`: a duration or `none`. */
  def fullListingInterval(interval: String): FileSourceBuilder = option(WatchOptions.FullListingInterval.key, interval)

  /** Sets the age from which files may be forgotten: a duration such as `7d`, or `none`. */
  def lateFileHorizon(age: String): FileSourceBuilder = option(WatchOptions.LateFileHorizon.key, age)

  /** Sets the policy for new files that are older than forgotten files: `fail` or `warn`. */
  def onLateFile(policy: String): FileSourceBuilder = option(WatchOptions.LateFile.key, policy)

  /** Sets the conditions that end a watched folder: `caughtUp`, `quiet:1h` or `file:_DONE`. The first one that holds is
    * enough.
    */
  @varargs
  def endWhen(conditions: String*): FileSourceBuilder = option(WatchOptions.EndsWhen.key, conditions.mkString(","))

  /** Builds the source specification. Checks the options without file access.
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
