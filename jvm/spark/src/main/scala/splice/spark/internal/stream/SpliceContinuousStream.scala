// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import scala.util.control.NonFatal

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming._
import org.slf4j.LoggerFactory

import splice.coordinator.internal.RealTimeBatches
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

  private val guard = new EpochGuard

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
      val from = now.source.position(start)
      now.batches.begin(from)
      val created = now.source.plan(now.batches.tasks(from))
      val next    = System.nanoTime() + now.batches.staleInterval.fold(0L)(_.toNanos)
      running = Some(now.copy(plan = Some(created), nextCheck = next))
      guard.planned()
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
    val now    = run()
    val epoch  = offsets.toSeq.collect { case of: EpochOffset => of }
    val unread = epoch.flatMap(_.unread)
    gauges(now.source)(_.coordinator.reported(epoch.flatMap(_.backlog)))
    if (guard.ended()) {
      val end = now.batches.end(unread)
      if (now.batches.isRead(unread)) running = Some(now.copy(ended = Some(end)))
      SpliceOffset(end)
    } else SpliceOffset(now.committed.getOrElse(throw new IllegalStateException("an epoch ended that did not begin")))
  }

  override def commit(end: Offset): Unit = synchronized {
    val now = run()
    val at  = now.source.position(end)
    running = Some(now.copy(committed = Some(at)))
    guard.committed()
    try now.source.coordinator.committed(at)
    catch { case NonFatal(e) => logger.warn("The source did not process the commit of an epoch", e) }
    gauges(now.source)(_.showCommitted(at))
  }

  // A source may be stale when its tasks are planned, for example during a drain. The interval limits the number of
  // plans for such a source.
  override def needsReconfiguration(): Boolean = guard.replace(running.exists { now =>
    now.ended.nonEmpty && now.ended == now.committed ||
    System.nanoTime() - now.nextCheck >= 0 && now.batches.isStale
  })

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
      try Running(source, mode(source))
      catch {
        case e: Throwable =>
          source.stop()
          throw e
      }
    running = Some(now)
    now
  }

  private def begin(now: Running, start: Position): Unit = {
    guard.begin()
    if (now.committed.isEmpty) clear(now.source, start)
    running = Some(now.copy(committed = Some(start), plan = None, ended = None))
  }

  /** Removes the ends of uncommitted epochs. Spark would otherwise use such an end for the next epoch with the same
    * number. Only the start of a run needs this. Later in the run, the log has no such end, and Spark has the ends in
    * memory.
    */
  private def clear(source: SourceRun, start: Position): Unit = {
    val batches = source.batches
    val ahead   =
      batches.uncommitted().filterNot(batches.end(_).map(source.coordinator.position).contains(start))
    val (epochs, others) = ahead.partition(batches.isEpoch)
    if (others.nonEmpty) throw FrontErrors.uncommitted(others)
    epochs.foreach { epoch =>
      logger.warn(
        s"The query reads rows of epoch $epoch again, because the query stopped before the commit of the epoch."
      )
      batches.remove(epoch)
    }
  }
}

private[spark] object SpliceContinuousStream {

  private val logger = LoggerFactory.getLogger(classOf[SpliceContinuousStream])

  /** The state of a run.
    *
    * @param committed
    *   the end of the last committed epoch, or the start; unset until Spark requests the start
    * @param plan
    *   the tasks, or None until Spark plans tasks
    * @param ended
    *   the end of an epoch at which all ranges with an end were read
    * @param nextCheck
    *   the earliest time of a check for changes of the source, in nanoseconds of `System.nanoTime`
    */
  final private case class Running(
      source: SourceRun,
      batches: RealTimeBatches,
      committed: Option[Position] = None,
      plan: Option[BatchPlan] = None,
      ended: Option[Position] = None,
      nextCheck: Long = 0L
  )
}
