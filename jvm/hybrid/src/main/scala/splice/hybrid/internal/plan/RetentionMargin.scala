// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.time.{Duration, Instant}
import java.util.concurrent.{ScheduledExecutorService, ScheduledThreadPoolExecutor, TimeUnit}

import scala.collection.concurrent.TrieMap
import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal
import scala.util.{Try, Using}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.source.errors.SpliceError
import splice.source.internal.DaemonThread
import splice.source.log.{LogOutlook, Outlook}
import splice.source.runtime.{Jobs, ReportListeners, SideLog}
import splice.source.{EnumeratorContext, LogPartition, ReadMode, TimeRange}

/** Compares the next log with the history while the query reads the history, because retention removes records of the
  * log in this time.
  *
  * The check calls the enumerator of the log as [[LaterLegs]] does, on the thread of `timer`, so no batch waits for a
  * server. A failed check is a warning. The query's thread calls the methods, and [[close]] may be called on any thread.
  *
  * @param enumerators
  *   enumerators of the query
  * @param timer
  *   ends with the history. Its thread starts with the first leg that has a later log
  */
final private[hybrid] class RetentionMargin(
    chain: Chain,
    context: EnumeratorContext,
    enumerators: LegEnumerators,
    timer: ScheduledExecutorService
) extends AutoCloseable {

  import RetentionMargin._

  // A plan and a bounded read have no batches.
  private val hasBatches = context.mode == ReadMode.Stream && context.columns.nonEmpty

  private lazy val checks = timer.scheduleWithFixedDelay(() => check(), Minutes, Minutes, TimeUnit.MINUTES)

  @volatile private var reading = Option.empty[Reading]
  @volatile private var found   = Option.empty[(Leg, Duration)]

  // Used by the thread of the timer.
  private var last   = (false, false)
  private var failed = false

  /** Age of the oldest record of the next log at the last check; of several partitions, the least age. */
  def age: Option[Duration] = found.collect { case (log, age) if reading.flatMap(_.log).contains(log) => age }

  /** Sets the leg that the query reads. The leg has begun, so its source has the modification times. */
  def follow(leg: Leg): Unit = if (hasBatches && !reading.exists(_.leg == leg)) {
    val log = chain.later(leg).find(_.source.readsLog).filterNot(_ => leg.source.readsLog)
    reading = Some(Reading(leg, log, log.flatMap(_ => Try(enumerators(leg)(_.outlook().modified)).toOption.flatten)))
    if (log.nonEmpty) { val _ = checks }
    else if (leg == chain.last) close()
  }

  private def check(): Unit =
    for {
      of  <- reading
      log <- of.log
    } try {
      val own = context.copy(
        sideLog = new CheckLog(context.sideLog),
        run = s"${context.run}-retention",
        jobs = Jobs.InThread,
        listeners = new ReportListeners
      )
      val logs = Using.resource(new LegEnumerators(chain, own)(_ => None))(_(log)(_.outlook().logs))
      compare(of, log, logs, context.clock.instant())
      failed = false
    } catch {
      case NonFatal(e) =>
        if (!failed && !timer.isShutdown)
          logger.warn(
            s"Leg '${log.name}' did not return the times of its oldest records. Splice repeats the check of the " +
              s"retention each $Minutes minutes: ${SpliceError.text(e)}"
          )
        failed = true
    }

  private def compare(of: Reading, log: Leg, logs: SortedMap[LogPartition, LogOutlook], now: Instant): Unit = {
    found = logs.valuesIterator.flatMap(_.first).maxOption.map(log -> Duration.between(_, now))
    // A leg that has not begun has no list of files yet.
    val rest = chain.copy(legs = chain.legs.drop(chain.index(of.leg.name)))
    val gap  = ExpectedGaps.of(rest, log, Known(_, of, log, logs))
    val near = if (gap.isEmpty) ExpectedGaps.near(rest, log, Known(_, of, log, logs), now) else None
    if (last != ((gap.nonEmpty, near.nonEmpty))) (gap ++ near).foreach(text => logger.warn(text))
    last = (gap.nonEmpty, near.nonEmpty)
  }

  override def close(): Unit = { val _ = timer.shutdownNow() }
}

private[hybrid] object RetentionMargin {

  private val logger = LoggerFactory.getLogger(classOf[RetentionMargin])

  private val Minutes = 10L

  def timer(): ScheduledExecutorService = new ScheduledThreadPoolExecutor(1, DaemonThread.named("splice-retention"))

  /** Leg of a history.
    *
    * @param log
    *   next log; None if the leg is a log, or if no log follows
    */
  final private case class Reading(leg: Leg, log: Option[Leg], modified: Option[TimeRange])

  final private case class Known(leg: Leg, of: Reading, log: Leg, found: SortedMap[LogPartition, LogOutlook])
      extends Outlook {
    override def modified: Option[TimeRange]               = of.modified.filter(_ => leg == of.leg)
    override def logs: SortedMap[LogPartition, LogOutlook] = if (leg == log) found else SortedMap.empty
  }

  /** Side log of one check, which neither reads nor writes the entries of the query. Any thread may use it. */
  final private class CheckLog(of: SideLog) extends SideLog {
    private val entries = TrieMap.empty[String, Seq[String]]
    private val scopes  = TrieMap.empty[String, SideLog]

    override def get(key: String): Option[Seq[String]]                         = entries.get(key)
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = entries.getOrElseUpdate(key, decide)
    override def keys(prefix: String): Seq[String] = entries.keys.filter(_.startsWith(prefix)).toSeq.sorted
    override def remove(key: String): Unit         = { val _ = entries.remove(key) }
    override def scope(name: String): SideLog      = scopes.getOrElseUpdate(name, new CheckLog(of.scope(name)))
    override def folder(name: String): Path        = of.folder(name)
  }
}
