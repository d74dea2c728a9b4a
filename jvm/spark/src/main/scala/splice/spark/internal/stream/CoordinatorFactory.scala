// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.time.Clock
import java.util.UUID

import org.apache.spark.SparkConf
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType

import splice.coordinator.internal.sidelog.SourceFolder
import splice.coordinator.internal.slots.SlotRules
import splice.coordinator.internal.{Coordinator, OffsetLog}
import splice.source.internal.SteadyClock
import splice.source.options.{CommonOptions, SourceOptions}
import splice.source.runtime.{ReportListeners, SideLog}
import splice.source.{EnumeratorContext, Position, ReadMode, Source}
import splice.spark.internal.read.ExecutorTasks

/** Creates the coordinator of one run from the session that runs the query. */
private[spark] object CoordinatorFactory {

  /** Returns the cores of the executors that are registered now, or `spark.default.parallelism` if that is set. On a
    * cluster, Spark returns at least 2 cores, even if no executor is registered.
    */
  def cores(spark: SparkSession): Int = math.max(spark.sparkContext.defaultParallelism, 1)

  /** Returns the number of tasks that the registered executors can run at a time, or `spark.default.parallelism` if that
    * is set. The result is the default number of slots. The tasks of a micro-batch may wait for a core.
    */
  def tasks(spark: SparkSession): Int = tasks(cores(spark), spark.sparkContext.getConf)

  /** Returns the number of tasks that the registered executors can run at the same time, or 0 if no executor is
    * registered. Only these tasks read rows if the tasks run until the end of a batch.
    */
  def capacity(spark: SparkSession): Int = ExecutorTasks.atSameTime(spark.sparkContext)

  /** Returns the number of tasks that these cores can run at a time. A task does not use cores of two executors. */
  private[spark] def tasks(cores: Int, conf: SparkConf): Int =
    // The user sets the parallelism as a number of tasks.
    if (conf.contains("spark.default.parallelism")) cores
    else {
      val cpus    = math.max(conf.getInt("spark.task.cpus", 1), 1)
      val isLocal = conf.get("spark.master", "").matches("local(\\[.*)?")
      val each    = if (isLocal) cores else conf.getInt("spark.executor.cores", cores)
      math.max(cores / each * (each / cpus) + cores % each / cpus, 1)
    }

  def apply(
      source: Source[_ <: Position],
      options: SourceOptions,
      columns: StructType,
      log: SideLog,
      mode: ReadMode,
      folder: Option[SourceFolder],
      batches: OffsetLog,
      listeners: ReportListeners = new ReportListeners
  ): Coordinator = {
    val spark    = SparkSession.active
    val retained = spark.conf.get("spark.sql.streaming.minBatchesToRetain", "100").toInt
    val jobs     = new SparkJobs(spark.sparkContext)
    val run      = UUID.randomUUID().toString
    val clock    = Clock.systemUTC()
    val steady   = Some(new SteadyClock(clock))
    val context  = EnumeratorContext(
      log,
      mode,
      clock,
      cores(spark),
      run,
      jobs = jobs,
      durations = steady,
      columns = Some(columns),
      listeners = listeners
    )
    val followed = Option.when(!options.contains(CommonOptions.Slots.key))(() => tasks(spark))
    new Coordinator(source, context, SlotRules.of(options, tasks(spark)), retained, folder, batches, followed)
  }
}
