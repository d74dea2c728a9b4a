// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.time.Clock
import java.util.{Map => JMap, Optional}

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.coordinator.{Coordinator, HadoopSideLog, HadoopSourceFolder, Leftovers, RealTimeBatches}
import splice.source._

/** A source as a stream of micro-batches, or of long batches in real-time mode. Spark calls it from the query's thread only; the coordinator
  * does the work.
  */
final private[spark] class SpliceMicroBatchStream private (
    columns: StructType,
    coordinator: Coordinator,
    homes: SlotHomes,
    reports: TaskReports,
    batches: LoggedBatches,
    board: Option[MetricsBoard],
    realTime: () => RealTimeBatches
) extends MicroBatchStream
    with SupportsRealTimeMode
    with SupportsTriggerAvailableNow
    with AcceptsLatestSeenOffset
    with ReportsSourceMetrics {

  private var plan: Option[(Position, Position, BatchPlan)] = None
  private var timed                                         = Option.empty[RealTimeBatches]
  private var timedPlan                                     = Option.empty[BatchPlan]

  override def initialOffset(): Offset = SpliceOffset(coordinator.initial())

  override def deserializeOffset(json: String): Offset = new SpliceOffset(coordinator.position(json), json)

  // The limits are each leg's own, asked for when its batch begins; this one only must not read "all available".
  override def getDefaultReadLimit: ReadLimit = ReadLimit.maxRows(Long.MaxValue)

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead")

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    coordinator.reported(reports.takeReports())
    val from = position(start)
    timed match {
      // Spark begins no batch without an offset, and replaces it at the end of the batch.
      case Some(mode) =>
        mode.begin(from)
        timedPlan = None
        start
      case None =>
        val until = coordinator.advance(from, everything = limit.isInstanceOf[ReadAllAvailable])
        if (until == from) start else SpliceOffset(until)
    }
  }

  override def prepareForRealTimeMode(): Unit = timed = Some(realTime())

  override def planInputPartitions(start: Offset): Array[InputPartition] = {
    homes.learn(reports.takeHomes())
    val made = timedPlan.getOrElse {
      val tasks = inRealTime.tasks(position(start))
      BatchPlan(tasks, coordinator.readers(columns, tasks), homes, reports)
    }
    timedPlan = Some(made)
    made.partitions
  }

  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset =
    SpliceOffset(inRealTime.end(offsets.toSeq.collect { case slot: SlotOffset => slot.unread }.flatten))

  private def inRealTime = timed.getOrElse(throw new IllegalStateException("the query is not in real-time mode"))

  override def prepareForTriggerAvailableNow(): Unit =
    try coordinator.freeze()
    catch {
      // Spark stops only those sources that got past this.
      case e: Throwable =>
        stop()
        throw e
    }

  override def setLatestSeenOffset(offset: Offset): Unit = { val _ = position(offset) }

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    homes.learn(reports.takeHomes())
    planOf(position(start), position(end)).partitions
  }

  override def createReaderFactory(): PartitionReaderFactory =
    timedPlan.map(_.timed).orElse(plan.map(_._3.factory)).getOrElse(throw new IllegalStateException(
      "createReaderFactory before planInputPartitions"
    ))

  override def metrics(latestConsumed: Optional[Offset]): JMap[String, String] =
    latestConsumed.toScala.fold(java.util.Map.of[String, String]()) { consumed =>
      homes.learn(reports.takeHomes())
      coordinator.reported(reports.takeReports())
      val at      = position(consumed)
      val figures = coordinator.figures(at) + (ProgressMetric.SlotMoves -> homes.moves.toString)
      board.foreach(_.show(figures, coordinator.gauges(at)))
      figures.asJava
    }

  override def commit(end: Offset): Unit = coordinator.committed(position(end))

  override def stop(): Unit =
    try {
      coordinator.reported(reports.takeReports())
      coordinator.stopped(batches.committed())
    } catch {
      case NonFatal(e) => SpliceMicroBatchStream.log.warn("The last committed batch was not told to the source", e)
    } finally {
      board.foreach(_.close())
      coordinator.close()
    }

  private def planOf(from: Position, until: Position): BatchPlan =
    plan.collect { case (`from`, `until`, known) => known }.getOrElse {
      val tasks = coordinator.tasks(from, until)
      val made  = BatchPlan(tasks, coordinator.readers(columns, tasks), homes, reports)
      plan = Some((from, until, made))
      made
    }

  // Spark also gives offsets of a class of its own, read from its log.
  private def position(offset: Offset): Position = offset match {
    case own: SpliceOffset => own.position
    case other             => coordinator.position(other.json)
  }

}

private[spark] object SpliceMicroBatchStream {

  private val log = LoggerFactory.getLogger(classOf[SpliceMicroBatchStream])

  private val Folder = "splice"

  /** Opens the checkpoint folder that Spark keeps for this source. */
  def apply(
      source: Source[_ <: Position],
      options: SourceOptions,
      columns: StructType,
      checkpoint: String
  ): SpliceMicroBatchStream = {
    val spark       = SparkSession.active
    val hadoop      = HadoopConfiguration(spark)
    val store       = options(CommonOptions.CheckpointStoreOption)
    val sideLog     = new HadoopSideLog(new Path(checkpoint, Folder), hadoop, store)
    val sources     = new HadoopSourceFolder(new Path(checkpoint), hadoop, store)
    val batches     = new LoggedBatches(new Path(checkpoint), hadoop)
    val coordinator = CoordinatorFactory(source, options, sideLog, ReadMode.Stream, Some(sources), batches)
    QueryCheckpoints.learn(spark.sparkContext, new Path(checkpoint))
    coordinator.open()
    Leftovers.remove(new Path(checkpoint), hadoop, Clock.systemUTC())
    new SpliceMicroBatchStream(
      columns,
      coordinator,
      SlotHomes(spark.sparkContext),
      TaskReports(spark.sparkContext),
      batches,
      MetricsBoard.ofSource(spark.sparkContext, new Path(checkpoint)),
      () => {
        RealTimeLimits.check(source, options)
        val found = coordinator.realTime.getOrElse(throw FrontErrors.noRealTime(source.kind))
        found.unsupportedLeg.foreach(leg => throw FrontErrors.noRealTime(leg))
        found
      }
    )
  }
}
