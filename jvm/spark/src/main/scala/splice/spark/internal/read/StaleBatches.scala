// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import java.time.Duration
import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.util.SerializableConfiguration
import org.slf4j.LoggerFactory

import splice.source.internal.entries.VersionedEntry
import splice.source.internal.{ClockInterval, DaemonThread}
import splice.source.runtime.SideLog

/** Ends the tasks of a real-time batch when the source has changed, so that the next batch applies the change.
  *
  * The driver cannot call a running task. A thread of the driver checks the source once per interval. If the source has
  * changed, the thread writes the entry `stale-<n>` to the side log. Each task checks for the entry at most once per
  * interval. The query's thread calls [[begin]], [[checkEvery]] and [[close]].
  *
  * @param folder
  *   the folder of the side log, which executors must be able to read
  * @param first
  *   the interval until a call of [[checkEvery]]
  * @param ofReaders
  *   true if a change that the reader of a task detects also ends the task
  * @param isStale
  *   true if a source of the query has changed since its last batch was planned; evaluated on any thread
  */
final private[spark] class StaleBatches(
    log: SideLog,
    folder: Path,
    configuration: Broadcast[SerializableConfiguration],
    first: Duration,
    ofReaders: Boolean = true
)(isStale: => Boolean)
    extends AutoCloseable {

  import StaleBatches._

  private val thread = new ScheduledThreadPoolExecutor(1, DaemonThread.named(s"splice-stale-batches-$folder"))

  // Entries of an earlier run that was killed.
  log.keys(Prefix).foreach(log.remove)

  private var number   = 0
  private var written  = false
  private var interval = first
  private var checks   = scheduled()

  private def scheduled() =
    thread.scheduleWithFixedDelay(() => check(), interval.toNanos, interval.toNanos, TimeUnit.NANOSECONDS)

  /** Begins a batch that is planned now, with the current state of the source. */
  def begin(): Unit = synchronized {
    if (written) log.remove(key)
    written = false
    number += 1
  }

  /** Sets the interval, which differs between the legs of a hybrid. Applies to tasks that are planned afterwards. */
  def checkEvery(next: Duration): Unit = synchronized {
    if (next != interval) {
      interval = next
      checks.cancel(false)
      checks = scheduled()
    }
  }

  /** Returns the check by which a task detects that the last batch is stale. */
  def current: StaleCheck = synchronized(StaleCheck(new Path(folder, key).toString, configuration, interval, ofReaders))

  private def key = s"$Prefix$number"

  private def check(): Unit =
    try synchronized {
        if (number > 0 && !written && isStale) {
          log.getOrCreate(key)(VersionedEntry.write())
          written = true
          logger.info(s"Batch $number of this run ends early, because the splits of the source have changed")
        }
      }
    catch { case NonFatal(e) => logger.warn("Running tasks could not be notified to end early", e) }

  override def close(): Unit = {
    thread.shutdownNow()
    val _ = thread.awaitTermination(Patience.toMillis, TimeUnit.MILLISECONDS)
    synchronized(if (written) log.remove(key))
  }
}

private object StaleBatches {

  private val Prefix   = "stale-"
  private val Patience = Duration.ofSeconds(2)
  private val logger   = LoggerFactory.getLogger(classOf[StaleBatches])
}

/** The data with which a task detects that its batch is stale.
  *
  * @param entry
  *   the path of the side-log entry
  * @param ofReader
  *   true if a change that the reader detects also makes the batch stale
  */
final private[spark] case class StaleCheck(
    entry: String,
    configuration: Broadcast[SerializableConfiguration],
    interval: Duration,
    ofReader: Boolean = true
)

/** Checks whether the batch of one task is stale. The task's thread calls all methods.
  *
  * @param entry
  *   None if nothing ends the batch early
  * @param isReaderStale
  *   true if the reader has detected a change
  */
final private[spark] class StaleTask(entry: Option[StaleCheck])(isReaderStale: => Boolean) {

  private val interval = new ClockInterval(entry.fold(StaleTask.Never)(_.interval), System.currentTimeMillis())
  private var stale    = false

  /** True if the task must end now, as of the last check. */
  def isStale: Boolean = stale

  /** Checks for the entry if the interval has elapsed.
    *
    * @param now
    *   the time of the system clock in milliseconds, which the caller reads for each row
    */
  def check(now: Long): Unit = if (!stale && interval.hasEnded(now)) {
    stale = entry.exists(marker => marker.ofReader && isReaderStale || exists(marker))
    interval.restart(System.currentTimeMillis())
  }

  /** The milliseconds from `now` until the next check for the entry. */
  def millis(now: Long): Long = interval.left(now)

  private def exists(check: StaleCheck): Boolean = {
    val path = new Path(check.entry)
    try path.getFileSystem(check.configuration.value.value).exists(path)
    catch {
      case e: java.io.InterruptedIOException => throw e
      case NonFatal(e)                       =>
        StaleTask.logger.warn(s"$path could not be read. Changes of the source are applied at the end of the batch", e)
        false
    }
  }
}

private object StaleTask {

  // One year, so that no check occurs.
  private val Never = Duration.ofDays(365)

  private val logger = LoggerFactory.getLogger(classOf[StaleTask])
}
