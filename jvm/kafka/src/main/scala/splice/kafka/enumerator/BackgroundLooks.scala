// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.{Clock, Duration}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicReference}
import java.util.concurrent.{
  Callable,
  ConcurrentHashMap,
  Future,
  RejectedExecutionException,
  ScheduledExecutorService,
  ScheduledThreadPoolExecutor,
  TimeUnit
}

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.source.DaemonThread

/** Looks at something again and again on a thread of its own, less often while looks fail, which is a warning.
  *
  * @param name
  *   of the thread
  * @param failure
  *   how the warning begins
  */
final private[splice] class BackgroundLooks[A](name: String, interval: Duration, clock: Clock, failure: String)(
    look: => A
) extends AutoCloseable {

  private val seen = new AtomicReference[Option[A]](None)
  private val felt = new AtomicReference(DiscoveryHealth())

  private val submitted = ConcurrentHashMap.newKeySet[Future[_]]()

  private val thread: ScheduledExecutorService = {
    val made = new ScheduledThreadPoolExecutor(1, DaemonThread.named(name))
    // Who ends does not wait for the next look.
    made.setExecuteExistingDelayedTasksAfterShutdownPolicy(false)
    made
  }

  /** Goes on looking by itself from now on. Nothing is looked at before: a leg of a chain may wait for its turn. */
  lazy val begin: Unit = again()

  /** Looks now, on the caller's thread. */
  def now(): A = {
    seen.set(None)
    feel(_.begun(clock.instant()))
    try {
      val found = look
      feel(_.succeeded(clock.instant()))
      found
    } finally feel(_.copy(pending = None))
  }

  /** Does something between two looks. */
  def between[B](work: => B): Future[B] = kept(thread.submit((() => work): Callable[B]))

  /** What was seen since this was last asked. */
  def news(): Option[A] = seen.getAndSet(None)

  /** The same, and it stays what [[news]] returns. */
  def pending: Option[A] = seen.get()

  def health: DiscoveryHealth = felt.get()

  /** A look that failed which was not of this thread's own accord. */
  def failed(error: Throwable): Unit = feel(_.failed(clock.instant(), error))

  /** Gives up the look that is under way. */
  override def close(): Unit = { val _ = thread.shutdownNow() }

  /** Cancels the look that is under way, and then ends.
    *
    * @param patience
    *   how long to wait for the look and for `last`
    * @param last
    *   called on the thread after the look. If the look does not end in time, another thread calls it
    * @param others
    *   closes other objects on the caller's thread meanwhile
    */
  def close(patience: Duration)(last: => Unit)(others: => Unit): Unit = {
    val deadline = System.nanoTime() + patience.toNanos
    val ended    = new AtomicBoolean
    def end()    = if (ended.compareAndSet(false, true)) last
    val running  = submitted.toArray(Array.empty[Future[_]])
    try { val _ = between(end()) }
    catch { case _: RejectedExecutionException => () }
    thread.shutdown()
    running.foreach(_.cancel(true))
    try others
    finally if (!thread.awaitTermination(math.max(deadline - System.nanoTime(), 0L), TimeUnit.NANOSECONDS)) {
        close()
        DaemonThread.named(name).newThread(() => end()).start()
      }
  }

  private def kept[F <: Future[_]](call: F): F = {
    submitted.removeIf(_.isDone)
    submitted.add(call)
    call
  }

  private def again(): Unit =
    try {
      val millis = math.max(health.delay(interval).toMillis, 1L)
      val _      = kept(thread.schedule((() => goOn()): Runnable, millis, TimeUnit.MILLISECONDS))
    } catch { case _: RejectedExecutionException => () }

  private def goOn(): Unit = {
    feel(_.begun(clock.instant()))
    try {
      val found = look
      feel(_.succeeded(clock.instant()))
      seen.set(Some(found))
    } catch {
      case _: InterruptedException                         => ()
      case BackgroundLooks.Failure(_) if thread.isShutdown => ()
      case BackgroundLooks.Failure(e)                      =>
        failed(e)
        BackgroundLooks.log.warn(s"$failure: ${Option(e.getMessage).getOrElse(e.toString)}")
    } finally again()
  }

  private def feel(change: DiscoveryHealth => DiscoveryHealth): Unit = {
    val _ = felt.updateAndGet(before => change(before))
  }
}

private[splice] object BackgroundLooks {

  /** Errors after which the thread continues. They include errors of a user's code and of its libraries. */
  object Failure {
    def unapply(error: Throwable): Option[Throwable] = error match {
      case NonFatal(e)                                   => Some(e)
      case e @ (_: LinkageError | _: StackOverflowError) => Some(e)
      case _                                             => None
    }
  }

  private val log = LoggerFactory.getLogger(classOf[BackgroundLooks[_]])
}
