// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import scala.util.control.NonFatal

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming._
import org.slf4j.LoggerFactory

import splice.coordinator.internal.{Epochs, RealTimeBatches}
import splice.source.Position
import splice.spark.internal.errors.FrontErrors
import splice.spark.internal.read.{BatchPlan, ContinuousReaderFactory, EpochOffset}

/** A source in Spark's continuous mode. Tasks read without an end, and epochs end while the tasks read.
  *
  * The query's thread plans the tasks. Spark's thread for messages of tasks calls [[mergeOffsets]],
  * [[deserializeOffset]] and [[commit]], which send no request. Spark's thread for epochs calls
  * [[needsReconfiguration]]. Spark ignores errors on these two threads, and commits no epoch after an error.
  *
  * @param opened
  *   opens the run. Evaluated on the query's thread, because another run of the query may be active when Spark creates
  *   the stream
  * @param mode
  *   returns the batches of a run. Fails if the source, or one of its options, does not support continuous mode
  */
final private[spark] class SpliceContinuousStream(opened: => SourceRun, mode: SourceRun => RealTimeBatches)
    extends ContinuousStream
    with AcceptsLatestSeenOffset {

  import SpliceContinuousStream._

  @volatile private var running = Option.empty[Running]

  override def initialOffset(): Offset = synchronized {
    val now   = run()
    val start = now.source.coordinator.initial()
    begin(now, start)
    SpliceOffset(start)
  }

  /** Sets the end of the last committed epoch. Spark calls this method each time before it plans tasks after a
    * committed epoch.
    */
  override def setLatestSeenOffset(offset: Offset): Unit = synchronized {
    val now = run()
    begin(now, now.source.position(offset))
  }

  override def deserializeOffset(json: String): Offset = synchronized {
    new SpliceOffset(run().source.coordinator.position(json), json)
  }

  override def planInputPartitions(start: Offset): Array[InputPartition] = synchronized {
    val now = run()
    // Spark plans the same tasks more than once.
    val plan = now.plan.getOrElse {
      val created = now.source.plan(now.epochs.tasks(now.source.position(start)))
      running = Some(now.copy(plan = Some(created)))
      created
    }
    plan.partitions
  }

  override def createContinuousReaderFactory(): ContinuousPartitionReaderFactory = synchronized {
    run().plan.map(plan => new ContinuousReaderFactory(plan.readers)).getOrElse(throw new IllegalStateException(
      "createContinuousReaderFactory before planInputPartitions"
    ))
  }

  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset = synchronized {
    val now   = run()
    val epoch = offsets.toSeq.collect { case of: EpochOffset => of.state }
    gauges(now.source)(_.coordinator.reported(epoch.flatMap(_.backlog)))
    SpliceOffset(now.epochs.ended(epoch.flatMap(_.unread), epoch.flatMap(_.skipped)))
  }

  override def commit(end: Offset): Unit = synchronized {
    val now = run()
    val at  = now.source.position(end)
    try now.epochs.committed(at)
    catch { case NonFatal(e) => logger.warn("The source did not process the commit of an epoch", e) }
    gauges(now.source)(_.showCommitted(at))
  }

  override def needsReconfiguration(): Boolean = running.exists(_.epochs.needTasks())

  /** Updates the gauges, if the query has gauges. An error of the gauges does not affect the epoch. */
  private def gauges(source: SourceRun)(update: SourceRun => Unit): Unit = if (source.board.nonEmpty)
    try update(source)
    catch { case NonFatal(e) => logger.warn("Splice could not update the gauges of an epoch", e) }

  // A stream that was never read has no open run.
  override def stop(): Unit = synchronized {
    val last = running
    running = None
    last.foreach(_.source.stop())
  }

  private def run(): Running = running.getOrElse {
    val source = opened
    val now    =
      try
        Running(
          source,
          new Epochs(source.coordinator, mode(source), source.batches, () => System.nanoTime())(
            FrontErrors.uncommitted(_)
          )
        )
      catch {
        case e: Throwable =>
          source.stop()
          throw e
      }
    running = Some(now)
    now
  }

  private def begin(now: Running, start: Position): Unit = {
    now.epochs.begin(start)
    running = Some(now.copy(plan = None))
  }
}

private[spark] object SpliceContinuousStream {

  private val logger = LoggerFactory.getLogger(classOf[SpliceContinuousStream])

  /** The state of a run.
    *
    * @param plan
    *   the tasks, or None until Spark plans tasks
    */
  final private case class Running(source: SourceRun, epochs: Epochs, plan: Option[BatchPlan] = None)
}
