// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import splice.source.{CommonOptions, Position, Source, SourceOptions}

/** Options that have no effect in real-time mode, and are rejected if a user sets them. Defaults are not. */
private[spark] object RealTimeLimits {

  private val ofQuery = Seq(
    CommonOptions.SplitLargePartitions,
    CommonOptions.MinPartitions,
    CommonOptions.MaxRecordsPerPartition
  ).map(_.key)

  /** @throws splice.source.SpliceUnsupportedException if a limit of batches is set */
  def check(source: Source[_ <: Position], options: SourceOptions): Unit = {
    val set = (ofQuery ++ source.batchLimits).filter(options.contains).map(options.name)
    if (set.nonEmpty) throw FrontErrors.limitsInRealTime(set)
  }
}
