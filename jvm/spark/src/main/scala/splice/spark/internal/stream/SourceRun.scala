// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.time.{Clock, Duration}

import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration
import org.slf4j.LoggerFactory

import splice.coordinator.internal.sidelog.{HadoopSideLog, HadoopSourceFolder, Leftovers}
import splice.coordinator.internal.{Coordinator, RealTimeBatches}
import splice.source.internal.HadoopConfiguration
import splice.source.options.{CommonOptions, SourceOptions}
import splice.source.runtime.{ProgressMetric, ReportListeners}
import splice.source.{Position, ReadMode, Source, TaskRanges}
import splice.spark.internal.metrics.QueryGauges
import splice.spark.internal.read.{BatchPlan, SlotLocality, StaleBatches, TaskReports}

/** One run of a query over one source, with the parts that the stream of each Spark mode needs.
  *
  * @param watch
  *   starts to end real-time batches when a condition is true. The condition is checked once per interval
  */
final private[spark] case class SourceRun(
    columns: StructType,
    coordinator: Coordinator,
    homes: SlotLocality,
    reports: TaskReports,
    batches: LoggedBatches,
    board: Option[QueryGauges],
    watch: Duration => (() => Boolean) => StaleBatches
) {

  /** Returns the batches without ends of the only source of a query, or None if the source does not support such
    * batches. Tasks that are planned before an executor is registered wait for an executor.
    */
  def timed: Option[RealTimeBatches] = {
    val spark = SparkSession.active
    coordinator.realTime(() =>
      Some(CoordinatorFactory.capacity(spark)).filter(_ > 0).getOrElse(CoordinatorFactory.tasks(spark))
    )
  }

  /** Returns the plan of these tasks, with their readers. */
  def plan(tasks: Seq[TaskRanges]): BatchPlan =
    BatchPlan(tasks, coordinator.readers(columns, tasks), homes, reports)

  /** Returns the figures at a position, and shows these figures as gauges, if the query has gauges. */
  def figures(at: Position, more: Iterable[(String, String)] = Nil): SortedMap[String, String] = {
    val figures = coordinator.figures(at) ++ more
    board.foreach(_.show(figures, coordinator.gauges(at)))
    figures
  }

  /** Shows the figures at a position as gauges, without the totals of tasks. In continuous mode, tasks report no totals,
    * because tasks run until the query stops.
    */
  def showCommitted(at: Position): Unit =
    board.foreach(_.show(coordinator.figures(at) -- ProgressMetric.OfTasks, coordinator.gauges(at)))

  /** Reads an offset of this source: an offset that Splice has created, or an offset that Spark has read from its log.
    */
  def position(offset: Offset): Position = offset match {
    case created: SpliceOffset => created.position
    case other                 => coordinator.position(other.json)
  }

  /** Forwards the remaining reports and the last committed batch to the source, and closes the run. Called when the
    * query stops.
    */
  def stop(): Unit =
    try {
      coordinator.reported(reports.takeReports())
      coordinator.stopped(batches.committed())
    } catch {
      case NonFatal(e) => SourceRun.logger.warn("The source was not notified of the last committed batch", e)
    } finally {
      board.foreach(_.close())
      coordinator.close()
    }
}

private[spark] object SourceRun {

  private val logger = LoggerFactory.getLogger(classOf[SourceRun])

  private val Folder = "splice"

  /** Opens the checkpoint folder that Spark keeps for the source. The query's thread calls this method. */
  def open(
      source: Source[_ <: Position],
      options: SourceOptions,
      columns: StructType,
      checkpoint: String
  ): SourceRun = {
    val spark       = SparkSession.active
    val hadoop      = HadoopConfiguration(spark)
    val store       = options(CommonOptions.CheckpointStoreOption)
    val sideLog     = new HadoopSideLog(new Path(checkpoint, Folder), hadoop, store)
    val sources     = new HadoopSourceFolder(new Path(checkpoint), hadoop, store)
    val batches     = new LoggedBatches(new Path(checkpoint), hadoop)
    val listeners   = new ReportListeners
    val coordinator =
      CoordinatorFactory(source, options, columns, sideLog, ReadMode.Stream, Some(sources), batches, listeners)
    QueryCheckpoints.learn(spark, new Path(checkpoint))
    coordinator.open()
    Leftovers.remove(new Path(checkpoint), hadoop, Clock.systemUTC())
    SourceRun(
      columns,
      coordinator,
      SlotLocality(spark.sparkContext),
      TaskReports(spark.sparkContext, listeners),
      batches,
      QueryGauges.ofSource(spark.sparkContext, new Path(checkpoint)),
      interval =>
        isStale => {
          val shipped = spark.sparkContext.broadcast(new SerializableConfiguration(hadoop))
          new StaleBatches(
            sideLog,
            new Path(checkpoint, Folder),
            shipped,
            interval,
            ofReaders = options(CommonOptions.EndBatchOnChange)
          )(isStale())
        }
    )
  }
}
