// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.util.{Map => JMap, Optional}

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.coordinator.internal.RealTimeBatches
import splice.source.options.{CommonOptions, SourceOptions}
import splice.source.runtime.ProgressMetric
import splice.source.{Position, Source}
import splice.spark.internal.errors.FrontErrors
import splice.spark.internal.metrics.Latencies
import splice.spark.internal.read.{BatchPlan, SlotOffset, StaleBatches}

/** A source as a stream of micro-batches, or of long batches in real-time mode. Spark calls all methods on the query's
  * thread. The coordinator does the work.
  */
final private[spark] class SpliceMicroBatchStream private (
    run: SourceRun,
    options: SourceOptions,
    realTime: RealTimeSource => RealTimeBatches
) extends MicroBatchStream
    with SupportsRealTimeMode
    with SupportsTriggerAvailableNow
    with AcceptsLatestSeenOffset
    with ReportsSourceMetrics {

  import run.{batches, coordinator, homes, position, reports}

  private var preparation                                   = Option.empty[() => Unit]
  private var plan: Option[(Position, Position, BatchPlan)] = None
  private var shared                                        = Option.empty[RealTimeSource]
  private var timed                                         = Option.empty[RealTimeBatches]
  private var timedPlan                                     = Option.empty[BatchPlan]
  private var stale                                         = Option.empty[StaleBatches]
  private var latencies                                     = Map.empty[String, String]

  override def initialOffset(): Offset = {
    prepare()
    SpliceOffset(coordinator.initial())
  }

  override def deserializeOffset(json: String): Offset = new SpliceOffset(coordinator.position(json), json)

  // Each leg has separate limits, which the coordinator reads when a batch of the leg begins. The only requirement for
  // this limit is that it is not "all available".
  override def getDefaultReadLimit: ReadLimit = ReadLimit.maxRows(Long.MaxValue)

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead")

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    prepare()
    coordinator.reported(reports.takeReports())
    val from = position(start)
    timed match {
      // Spark needs an offset to begin a batch, and replaces the offset at the end of the batch.
      case Some(mode) =>
        mode.begin(from)
        val interval = mode.staleInterval.filter(_ => options(CommonOptions.EndBatchOnChange))
        shared.foreach(_.begin(interval.map(_ -> (() => mode.isStale))))
        stale.foreach(_.begin())
        timedPlan = None
        start
      case None =>
        // Spark requests all available rows only for the only batch of a run. Without fixed ends, the run would succeed
        // without rows if a server does not respond.
        val isOnlyBatch = limit.isInstanceOf[ReadAllAvailable]
        if (isOnlyBatch) coordinator.freeze()
        val until = coordinator.advance(from, everything = isOnlyBatch)
        if (until == from) start else SpliceOffset(until)
    }
  }

  override def prepareForRealTimeMode(): Unit = {
    val source = RealTimeSources.ofQuery(SparkSession.active).join(options.find(CommonOptions.Slots))
    shared = Some(source)
    // Spark removes the offsets of these batches before the first call that prepares the source.
    val uncommitted = Try(batches.uncommitted())
    preparation = Some(() => begin(source, uncommitted.get))
  }

  private def begin(source: RealTimeSource, uncommitted: Seq[Long]): Unit = {
    timed = Some(realTime(source))
    uncommitted.foreach { batch =>
      SpliceMicroBatchStream.logger.warn(
        s"Real-time mode plans batch $batch again, because the batch was not committed."
      )
    }
  }

  override def planInputPartitions(start: Offset): Array[InputPartition] = {
    homes.learn(reports.takeHomes())
    val created = timedPlan.getOrElse(run.plan(inRealTime.tasks(position(start))))
    timedPlan = Some(created)
    watch()
    created.partitions
  }

  // Spark has begun the batch of all sources, so the interval of each source is known.
  private def watch(): Unit = for {
    source   <- shared
    interval <- source.staleInterval
  } stale match {
    case Some(batches) => batches.checkEvery(interval)
    case None          =>
      val batches = run.watch(interval)(() => source.isStale)
      batches.begin()
      stale = Some(batches)
  }

  // Spark logs and commits the end before the next call of the source. A run that begins after this end would lack the
  // reports of the batch.
  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset = {
    coordinator.reported(reports.takeReports())
    val slots = offsets.toSeq.collect { case slot: SlotOffset => slot }
    latencies = Latencies.figures(slots.map(_.latencies))
    SpliceOffset(inRealTime.end(slots.flatMap(_.unread)))
  }

  private def inRealTime = timed.getOrElse(throw new IllegalStateException("the query is not in real-time mode"))

  override def prepareForTriggerAvailableNow(): Unit = preparation = Some(() => coordinator.freeze())

  override def setLatestSeenOffset(offset: Offset): Unit = {
    prepare()
    val _ = position(offset)
  }

  // Spark stops the sources of a query only after Spark has prepared all of them. A source that fails during the
  // preparation would therefore leave the other sources open. Spark calls one of the methods that prepare a source
  // before the first batch of a run, and before a repeated batch.
  private def prepare(): Unit = {
    val now = preparation
    preparation = None
    now.foreach(_())
  }

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    homes.learn(reports.takeHomes())
    planOf(position(start), position(end)).partitions
  }

  override def createReaderFactory(): PartitionReaderFactory =
    timedPlan.map(
      _.timed(stale.map(_.current))
    ).orElse(plan.map(_._3.factory)).getOrElse(throw new IllegalStateException(
      "createReaderFactory before planInputPartitions"
    ))

  override def metrics(latestConsumed: Optional[Offset]): JMap[String, String] =
    latestConsumed.toScala.fold(java.util.Map.of[String, String]()) { consumed =>
      homes.learn(reports.takeHomes())
      coordinator.reported(reports.takeReports())
      run.figures(position(consumed), latencies + (ProgressMetric.SlotMoves -> homes.moves.toString)).asJava
    }

  override def commit(end: Offset): Unit = coordinator.committed(position(end))

  override def stop(): Unit =
    try {
      shared.foreach(_.leave())
      stale.foreach(_.close())
    } finally run.stop()

  private def planOf(from: Position, until: Position): BatchPlan =
    plan.collect { case (`from`, `until`, known) => known }.getOrElse {
      val tasks   = coordinator.tasks(from, until)
      val created = run.plan(tasks)
      plan = Some((from, until, created))
      created
    }
}

private[spark] object SpliceMicroBatchStream {

  private val logger = LoggerFactory.getLogger(classOf[SpliceMicroBatchStream])

  /** Opens the checkpoint folder that Spark keeps for this source. */
  def apply(
      source: Source[_ <: Position],
      options: SourceOptions,
      columns: StructType,
      checkpoint: String
  ): SpliceMicroBatchStream = {
    val run = SourceRun.open(source, options, columns, checkpoint)
    run.batches.lastEpoch().foreach(epoch => throw FrontErrors.afterContinuous(epoch, run.batches.committed()))
    new SpliceMicroBatchStream(
      run,
      options,
      shared => {
        RealTimeLimits.check(source, options)(FrontErrors.limitsInRealTime(_))
        val timed =
          run.coordinator.realTime(() => shared.available).getOrElse(throw FrontErrors.noRealTime(source.kind))
        timed.unsupportedLeg.foreach(leg => throw FrontErrors.noRealTime(leg))
        timed
      }
    )
  }
}
