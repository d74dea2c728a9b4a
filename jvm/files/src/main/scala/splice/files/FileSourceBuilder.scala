// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import scala.collection.immutable.ListMap

import org.apache.spark.sql.types.StructType

import splice.files.internal.options.FileOptions
import splice.source.options.{OptionSetters, SourceOptions}
import splice.source.{SourceProvider, SourceSpec}

/** Says what a file source reads. Immutable: every method returns another builder. */
final class FileSourceBuilder private[files] (entries: Seq[(String, String)]) extends OptionSetters[FileSourceBuilder] {

  /** Sets an option of the file source or of the file format; the last value counts. */
  override def option(key: String, value: String): FileSourceBuilder =
    new FileSourceBuilder(entries.filterNot(_._1.equalsIgnoreCase(key)) :+ (key -> value))

  /** The columns, so that Spark need not infer them; in SQL, such as `id BIGINT, name STRING`. */
  def schema(ddl: String): FileSourceBuilder = option(FileOptions.Schema.key, ddl)

  /** The columns, so that Spark need not infer them. */
  def schema(columns: StructType): FileSourceBuilder = option(FileOptions.Schema.key, columns.json)

  /** The policy for paths without a file to read: `fail` or `warn`. By default `fail` for a leg that another leg follows, else
    * `warn`.
    */
  def onEmpty(policy: String): FileSourceBuilder = option(FileOptions.Empty.key, policy)

  /** Checks the options; touches no file.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   when an option is unknown, missing or not allowed
    */
  def build(): SourceSpec = {
    val spec = SourceSpec(ListMap.from(entries))
    val _    = SourceProvider.create(SourceOptions(spec.options))
    spec
  }
}
