// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import splice.source.errors.SpliceUnsupportedException
import splice.source.options.{CommonOptions, SourceOptions}
import splice.source.{Position, Source}

/** Options that have no effect in real-time mode and in continuous mode. An option that a user sets is rejected.
  * Default values are allowed.
  */
private[spark] object RealTimeLimits {

  private val ofQuery = Seq(
    CommonOptions.SplitLargePartitions,
    CommonOptions.MinPartitions,
    CommonOptions.MaxRecordsPerPartition
  ).map(_.key)

  /** Throws the error that `rejected` creates, if the user has set limits of batches. */
  def check(source: Source[_ <: Position], options: SourceOptions)(
      rejected: Seq[String] => SpliceUnsupportedException
  ): Unit = {
    val set = (ofQuery ++ source.batchLimits).filter(options.contains).map(options.name)
    if (set.nonEmpty) throw rejected(set)
  }
}
