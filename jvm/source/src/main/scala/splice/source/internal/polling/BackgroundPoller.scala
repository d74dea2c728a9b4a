// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.polling

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

import splice.source.errors.SpliceError
import splice.source.internal.DaemonThread

/** Calls a function periodically on a separate thread, at longer intervals while calls fail. A failed call is logged as
  * a warning.
  *
  * @param name
  *   the name of the thread
  * @param interval
  *   the pause after a successful call; evaluated after each call
  * @param failure
  *   the first words of the warning
  */
final private[splice] class BackgroundPoller[A](name: String, interval: => Duration, clock: Clock, failure: String)(
    poll: => A
) extends Poller {

  private val seen    = new AtomicReference[Option[A]](None)
  private val current = new AtomicReference(PollHealth())

  private val submitted = ConcurrentHashMap.newKeySet[Future[_]]()

  private val thread: ScheduledExecutorService = {
    val created = new ScheduledThreadPoolExecutor(1, DaemonThread.named(name))
    // The shutdown does not wait for the next scheduled call.
    created.setExecuteExistingDelayedTasksAfterShutdownPolicy(false)
    created
  }

  private lazy val begun: Unit = again()

  override def begin(): Unit = begun

  /** Calls the function on the caller's thread. */
  def now(): A = {
    seen.set(None)
    feel(_.begun(clock.instant()))
    try {
      val result = poll
      feel(_.succeeded(clock.instant()))
      result
    } finally feel(_.copy(pending = None))
  }

  /** Runs work on the thread between two calls. */
  def between[B](work: => B): Future[B] = kept(thread.submit((() => work): Callable[B]))

  /** Returns the result of the last periodic call and removes it. */
  def news(): Option[A] = seen.getAndSet(None)

  /** Returns the result that [[news]] would return, without removing it. */
  def pending: Option[A] = seen.get()

  override def health: PollHealth = current.get()

  /** Records the failure of work other than a periodic call. */
  def failed(error: Throwable): Unit = feel(_.failed(clock.instant(), error))

  override def close(): Unit = { val _ = thread.shutdownNow() }

  /** Cancels the running call, and then ends the thread.
    *
    * @param patience
    *   how long to wait for the call and for `last`
    * @param last
    *   called on the thread after the call; if the call does not end in time, another thread calls `last`
    * @param others
    *   closes other objects on the caller's thread while the call ends
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
      val result = poll
      feel(_.succeeded(clock.instant()))
      seen.set(Some(result))
    } catch {
      case _: InterruptedException                          => ()
      case BackgroundPoller.Failure(_) if thread.isShutdown => ()
      case BackgroundPoller.Failure(e)                      =>
        failed(e)
        BackgroundPoller.logger.warn(s"$failure: ${SpliceError.text(e)}")
    } finally again()
  }

  private def feel(change: PollHealth => PollHealth): Unit = {
    val _ = current.updateAndGet(before => change(before))
  }
}

private[splice] object BackgroundPoller {

  /** Errors after which the thread continues. These errors include errors in a user's code and in its libraries, and a
    * lack of memory.
    */
  object Failure {
    def unapply(error: Throwable): Option[Throwable] = error match {
      case NonFatal(e)                                    => Some(e)
      case e @ (_: LinkageError | _: VirtualMachineError) => Some(e)
      case _                                              => None
    }
  }

  private val logger = LoggerFactory.getLogger(classOf[BackgroundPoller[_]])
}
