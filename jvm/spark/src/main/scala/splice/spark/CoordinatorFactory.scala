// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.time.Clock
import java.util.UUID

import org.apache.spark.sql.SparkSession

import splice.coordinator.{Coordinator, OffsetLog, SlotRules, SourceFolder}
import splice.source._

/** Makes the coordinator of one run from the session that runs it. */
private[spark] object CoordinatorFactory {

  /** The cores of the executors that are registered now, or `spark.default.parallelism` if that is set. Spark returns 2 or more on a cluster,
    * also if no executor is registered.
    */
  def cores(spark: SparkSession): Int = math.max(spark.sparkContext.defaultParallelism, 1)

  def apply(
      source: Source[_ <: Position],
      options: SourceOptions,
      log: SideLog,
      mode: ReadMode,
      folder: Option[SourceFolder],
      batches: OffsetLog
  ): Coordinator = {
    val spark    = SparkSession.active
    val cores    = this.cores(spark)
    val retained = spark.conf.get("spark.sql.streaming.minBatchesToRetain", "100").toInt
    val jobs     = new SparkJobs(spark.sparkContext)
    val run      = UUID.randomUUID().toString
    val context  = EnumeratorContext(log, mode, Clock.systemUTC(), cores, run, retained, jobs = jobs)
    val followed = Option.when(!options.contains(CommonOptions.Slots.key))(() => this.cores(spark))
    new Coordinator(source, context, SlotRules.of(options, cores), retained, folder, batches, followed)
  }
}
