// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.mutable
import scala.util.Random

import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.options.OnFutureTime
import splice.source.errors.SpliceException

/** Random logs of a query, and the rows that its batches delivered. The object has its own copy of each log, and
  * compares the rows with Spark's rule for late rows.
  *
  * @param seen
  *   receives the name of each situation that occurs
  */
final class EventTimeLogs(random: Random, policy: OnFutureTime, now: () => Long)(seen: String => Unit) {

  import EventTimeLogs._

  private def oneIn(n: Int) = random.nextInt(n) == 0

  /** The greatest time between two records of a partition without skew, in milliseconds. */
  val step: Int = Seq(1, 10, 1000, 60000)(random.nextInt(4))

  private val isSkewed  = oneIn(2)
  private val disorder  = if (oneIn(3)) step * (1 + random.nextInt(20)) else 0
  private val hasFuture = oneIn(4)
  private val backdates = oneIn(4)

  val logs: mutable.ArrayBuffer[Log]              = mutable.ArrayBuffer.empty
  private val batches: mutable.ArrayBuffer[Batch] = mutable.ArrayBuffer.empty

  /** Log of one partition. An offset without a row is a marker, or belongs to an aborted transaction. */
  final class Log private[admission] (simulated: SimulatedLog, val topic: String, val partition: Int) {

    private[admission] var records: Vector[Logged] = Vector.empty
    private var removed                            = Set.empty[Long]
    private var first                              = 0L
    private val speed                              = if (isSkewed) 1 + random.nextInt(20) else 1
    private var time                               = now() - step.toLong * (1 + random.nextInt(500))

    def end: Long = records.size.toLong

    def grow(n: Int): Unit = (0 until n).foreach { _ =>
      if (!oneIn(4)) time += random.nextInt(step * speed + 1)
      time = math.min(time, now())
      val isLate   = disorder > 0 && oneIn(4)
      val isFuture = hasFuture && oneIn(40)
      val isRow    = !oneIn(8)
      if (isLate) seen("disorder")
      if (isFuture) seen(s"future row, ${policy.word}")
      if (!isRow) seen(if (backdates) "back-dated marker" else "marker or aborted record")
      val millis =
        if (isFuture) now() + Ahead + 1 + random.nextInt(if (oneIn(2)) 600000 else 86400000)
        else if (!isRow && backdates) now()
        else if (isLate) time - random.nextInt(disorder + 1)
        else time
      records :+= Logged(end, millis, isRow)
      if (isRow) simulated.write(topic, partition, millis) else simulated.mark(topic, partition, millis)
    }

    /** Removes records before an offset. */
    def expire(until: Long): Unit = {
      seen("retention")
      first = math.max(first, math.min(until, end))
      simulated.expire(topic, partition, first)
    }

    /** Removes a record. */
    def compact(): Unit = if (end > 0) {
      seen("compaction")
      val offset = random.nextInt(end.toInt).toLong
      removed += offset
      simulated.clear(topic, partition, offset, offset + 1)
    }

    private[admission] def rows(from: Long, until: Long): Vector[Logged] =
      records.slice(math.max(from, first).toInt, until.toInt).filter(r => r.isRow && !removed(r.offset))

    override def toString: String = s"$topic-$partition"
  }

  /** Adds the log of a new partition, with some records. */
  def add(simulated: SimulatedLog, topic: String, partition: Int): Log = {
    val log = new Log(simulated, topic, partition)
    logs += log
    log.grow(random.nextInt(if (oneIn(3)) 200 else 40))
    log
  }

  /** Adds records to some logs, and removes some records.
    *
    * @param at
    *   the next offset to read of a log
    */
  def change(at: Log => Long): Unit = logs.foreach { log =>
    if (oneIn(5)) log.grow(random.nextInt(20))
    if (oneIn(60)) log.expire(at(log) + random.nextInt(5) - 3)
    if (oneIn(20)) log.compact()
  }

  /** The ends of all logs, or 0 for a log that the query does not know yet. */
  def ends(isKnown: Log => Boolean): Seq[Long] = logs.iterator.map(log => if (isKnown(log)) log.end else 0L).toVector

  /** Adds a batch.
    *
    * @param ranges
    *   the number of a log, the start, the end, and true if the range is read without regard to its times
    * @param ends
    *   the ends of all logs when the batch was planned
    */
  def deliver(ranges: Seq[(Int, Long, Long, Boolean)], ends: Seq[Long]): Unit = {
    val rows = ranges.flatMap { case (i, from, until, isExempt) =>
      logs(i).rows(from, until).map(Delivered(i, _, isExempt))
    }
    batches += Batch(rows, ends, now())
  }

  /** True if a record of a log hides later records with earlier times. */
  def hides: Boolean = logs.exists(log =>
    log.records.exists(c =>
      c.millis - now() > Disorder ||
        log.records.exists(r => r.isRow && r.offset > c.offset && c.millis - r.millis > Disorder)
    )
  )

  /** Spark's rule: a row is late if its time is not after the watermark, which is the greatest time of earlier batches
    * minus the delay. Returns the first late row that neither its own partition nor a batch before it explains.
    */
  def late(delay: Long): Option[String] = {
    val greatest = batches.iterator.map(_.rows.map(_.record.millis).maxOption.getOrElse(Long.MinValue))
      .scanLeft(Long.MinValue)(math.max).toVector
    lazy val aligned = batches.iterator.map(this.greatest).toVector
    batches.indices.iterator.flatMap { i =>
      val dropped = batches(i).rows.filter(r => greatest(i) != Long.MinValue && r.record.millis <= greatest(i) - delay)
      dropped.iterator.filterNot(r => r.isExempt || isOwn(r, delay) || isNew(r, i, delay, aligned))
        .map(r => s"batch $i drops $r of ${logs(r.log)} with a delay of $delay")
    }.nextOption()
  }

  // A record before the row, in its partition, is later by the delay.
  private def isOwn(row: Delivered, delay: Long): Boolean = {
    val is =
      logs(row.log).records.exists(r => r.offset < row.record.offset && r.millis >= row.record.millis + delay)
    if (is) seen("dropped by its own partition")
    is
  }

  // The row became readable after each batch was planned that delivered a row that is later by the delay.
  private def isNew(row: Delivered, i: Int, delay: Long, aligned: Int => Long): Boolean = {
    val is = (0 until i).forall { b =>
      val ends = batches(b).ends
      aligned(b) < row.record.millis + delay || !ends.isDefinedAt(row.log) || ends(row.log) <= row.record.offset
    }
    if (is) seen("dropped because it was new")
    is
  }

  /** The greatest time of the rows of a batch that are aligned. With the policy `read`, a partition is not aligned from
    * its future row on.
    */
  private def greatest(batch: Batch): Long = {
    def isFree(x: Delivered) = policy == OnFutureTime.Read &&
      logs(x.log).records.exists(r => r.offset <= x.record.offset && r.millis >= batch.now + Ahead)
    batch.rows.iterator.filterNot(x => x.isExempt || isFree(x)).map(_.record.millis).maxOption.getOrElse(Long.MinValue)
  }
}

object EventTimeLogs {

  private val Ahead    = 60000L
  private val Disorder = 3600000L

  final case class Logged(offset: Long, millis: Long, isRow: Boolean)

  /** Result of one world: the first violation, and the situations that occurred. */
  final case class Outcome(failure: Option[String], situations: Set[String])

  /** Runs a world. An error is right if the logs have its cause.
    *
    * @param read
    *   runs the query of the world, and returns the first violation
    */
  def outcome(logs: EventTimeLogs, policy: OnFutureTime, situations: mutable.Set[String])(
      read: => Option[String]
  ): Outcome = {
    val failure =
      try read
      catch {
        case e: SpliceException if e.getCondition == "SPLICE_ADMISSION.FUTURE_TIME" && policy == OnFutureTime.Fail =>
          situations += "error of a future row"
          None
        case e: SpliceException if e.getCondition == "SPLICE_ADMISSION.TIMES_NOT_ORDERED" && logs.hides =>
          situations += "error of hidden rows"
          None
        case e: Exception => Some(s"$e ${e.getStackTrace.take(6).mkString(" ")}")
      }
    Outcome(failure, situations.toSet)
  }

  /** The situations that fewer than 50 worlds have. */
  def rare(outcomes: Iterable[Outcome], wanted: Seq[String]): Map[String, Int] = {
    val counts = outcomes.flatMap(_.situations).groupMapReduce(identity)(_ => 1)(_ + _).withDefaultValue(0)
    wanted.iterator.map(situation => situation -> counts(situation)).filter(_._2 < 50).toMap
  }

  /** The situations of every world with the logs of this file. */
  val Situations: Seq[String] = Seq(
    "disorder",
    "marker or aborted record",
    "back-dated marker",
    "compaction",
    "retention",
    "restart",
    "silent partition",
    "dropped by its own partition",
    "dropped because it was new"
  ) ++ OnFutureTime.all.map(policy => s"future row, ${policy.word}")

  /** @param isExempt true for a row of a batch by lag, or of a hole of a history */
  final private case class Delivered(log: Int, record: Logged, isExempt: Boolean)

  /** @param ends the ends of all logs when the batch was planned */
  final private case class Batch(rows: Seq[Delivered], ends: Seq[Long], now: Long)
}
