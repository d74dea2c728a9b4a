// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import scala.collection.immutable.ListMap

import org.apache.spark.sql.types.StructType

import splice.files.internal.options.FileOptions
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
