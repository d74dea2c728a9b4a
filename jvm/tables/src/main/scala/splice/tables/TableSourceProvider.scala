// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables

import splice.source.options.{OptionSet, SourceOptions}
import splice.source.{Position, Source, SourceProvider}
import splice.tables.internal.options.{TableOptions, TableSettings}

/** Registers the table source. */
final class TableSourceProvider extends SourceProvider {

  override def kind: String = TableSource.Kind

  override def options: OptionSet = TableOptions.set

  // With limited batches, a failure at the end of a backfill repeats one batch and not the whole history.
  override def beforeAnotherLeg(options: SourceOptions): Seq[(String, String)] =
    Seq(TableOptions.MaxBytesPerTrigger.key -> TableSourceProvider.Bytes)

  override def create(options: SourceOptions): Source[_ <: Position] = new TableSource(TableSettings(options))
}

private object TableSourceProvider {
  val Bytes = "8g"
}
