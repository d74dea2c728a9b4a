// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.io.InterruptedIOException
import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{
  CompletableFuture,
  ConcurrentHashMap,
  CountDownLatch,
  ExecutionException,
  Executors,
  Future => JFuture,
  TimeUnit,
  TimeoutException
}

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.state.Availability
import splice.kafka.dynamic.internal.state.TopicState.Draining
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaPlan}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.errors.SpliceException
import splice.source.internal.DaemonThread

/** Runs the enumerator of one cluster on a separate thread, so that an unavailable cluster does not delay other
  * clusters.
  *
  * After a login error, the worker creates the enumerator again before the next request, because a reference to a
  * password may have a new value.
  *
  * @param makeEnumerator
  *   creates the enumerator on that thread
  */
final private[dynamic] class ClusterWorker(
    name: String,
    run: String,
    clock: Clock,
    await: ResponseWait = ResponseWait.InRealTime
)(makeEnumerator: => ClusterEnumerator)
    extends AutoCloseable {

  private val thread = Executors.newSingleThreadExecutor(DaemonThread.named(s"splice-kafka-$name-$run"))

  private val submitted = ConcurrentHashMap.newKeySet[JFuture[_]]()

  private val closed = new CountDownLatch(1)

  @volatile private var created = Option.empty[ClusterEnumerator]

  @volatile private var ends = false

  @volatile private var published = Option.empty[KafkaPlan]

  // Only that thread uses these fields and calls the enumerator.
  private var make  = () => makeEnumerator
  private var begun = Option.empty[Map[String, Draining]]

  private var requested: Option[ClusterWorker.Sent] = None

  // The last close of the enumerator of an inactive cluster.
  private var resting: JFuture[_] = CompletableFuture.completedFuture(())

  private var record = ClusterHealth()

  private var response = Option.empty[Instant]

  // The ends of logs in the last response that has ends.
  private var last = KafkaPosition.Empty

  // Topics whose drain cannot end, because some of their partitions do not respond although the cluster responds.
  private var blocked = Map.empty[String, ClusterHealth]

  def health: ClusterHealth = record

  /** Returns the availability of all partitions of a topic. */
  def availability(topic: String): Availability = {
    val ofTopic = if (record.availability == Availability.Available) blocked.getOrElse(topic, record) else record
    ofTopic.availability match {
      case outage: Availability.Unavailable => outage.copy(ends = last)
      case other                            => other
    }
  }

  /** Returns the time of the last successful request, or None before the first success and for an inactive cluster. */
  def responded: Option[Instant] = response

  /** Returns the send time of the pending request. */
  def pending: Option[Instant] = requested.map(_.since)

  /** Returns the plan after the last successful request, or None before the first success. The plan contains everything
    * that the responses depend on. Does not wait for a pending request.
    */
  def plan: Option[KafkaPlan] = published

  /** Returns true if the cluster has partitions that the query does not read yet. Any thread may call this method. */
  def isStale: Boolean = created.exists(_.isStale)

  /** Notes that tasks read ranges. Does not wait for a pending request. */
  def begun(ranges: Seq[KafkaSplitRange]): Unit = created.foreach(_.begun(ranges))

  /** Sends a request, unless a request is pending, or a request failed a short time ago. */
  def send(request: ClusterRequest): Unit = {
    // A position that is read without an end advances while a request is pending. The response then does not apply.
    if (requested.exists(sent => sent.response.isDone && sent.request.from != request.from)) {
      val _ = receive(request.from, Duration.ZERO, clock.instant(), patient = false)
    }
    if (requested.isEmpty && record.maySend(clock.instant())) {
      val now = clock.instant()
      requested = Some(ClusterWorker.Sent(request, now, submit(reach(_, request))))
    }
  }

  /** Returns the response; None before the response arrives, or if the response is not for this position.
    *
    * @param wait
    *   how long a batch waits for a cluster
    * @param deadline
    *   the time at which this batch stops waiting
    * @param patient
    *   true if the batch also waits for an unavailable cluster
    * @throws splice.source.errors.SpliceException
    *   if the query must fail
    */
  def receive(from: KafkaPosition, wait: Duration, deadline: Instant, patient: Boolean): Option[ClusterResponse] =
    requested.flatMap { sent =>
      val now    = clock.instant()
      val waits  = patient || record.isWaitedFor(now, wait)
      val millis = if (waits) math.max(Duration.between(now, deadline).toMillis, 0L) else 0L
      try {
        val reach = await(name, sent.response, millis)
        requested = None
        recover()
        if (sent.request.needsEnds) last = reach.ends(last)
        blocked = reach.blocked.map { case (topic, error) =>
          topic -> blocked.getOrElse(topic, ClusterHealth()).failed(sent.since, clock.instant(), error)
        }
        // A response to a request from another position does not apply to this position.
        if (sent.request.from == from) Some(reach) else None
      } catch {
        case _: TimeoutException =>
          // A request that was just sent does not indicate an outage, because no batch has waited for its response.
          if (waits) record = record.slow(clock.instant())
          None
        case e: ExecutionException =>
          requested = None
          fail(sent.since, e.getCause)
          None
      }
    }

  /** Ends the requests to an inactive cluster: cancels calls, and closes the enumerator with its clients and discovery.
    * The next call creates the enumerator again. Discards failures, because an inactive cluster may be unavailable.
    *
    * @param at
    *   the position up to which all rows were read. No later call of an enumerator stores or commits this position
    */
  def rest(at: KafkaPosition): Unit = {
    record = record.rested
    response = None
    blocked = Map.empty
    if (isCalled || created.nonEmpty && resting.isDone) {
      cancel()
      requested = None
      resting = thread.submit((() => finish(at)): Runnable)
    }
  }

  // After a failure to store skipped offsets, the next round stores the offsets.
  private def finish(at: KafkaPosition): Unit =
    if (created.forall(isStored(at, _, "Splice tries again in the next round. Check the checkpoint storage.")))
      try commitNow(at)
      finally drop()

  /** Fixes the ends of the cluster's logs with the next request. */
  def freeze(): Unit = ends = true

  /** Calls the enumerator and waits for the result. */
  def apply[A](request: ClusterEnumerator => A): A = {
    val since = clock.instant()
    val call  = submit(request)
    recorded(since)(call.get())
  }

  /** Calls the enumerator and does not wait. The returned function waits for the result until a deadline. Without a
    * result, the function throws a `TimeoutException`.
    */
  def ahead[A](request: ClusterEnumerator => A): Instant => A = {
    val since = clock.instant()
    val call  = submit(request)
    deadline =>
      recorded(since) {
        try await(name, call, left(deadline))
        catch { case _: TimeoutException => throw new TimeoutException("no response") }
      }
  }

  private def left(deadline: Instant): Long = math.max(Duration.between(clock.instant(), deadline).toMillis, 0L)

  /** Calls the enumerator and does not wait. The returned function waits for the result until a deadline. Without a
    * result, the cluster is unavailable for the next batches too.
    *
    * @param always
    *   false if the result is None while the cluster is unavailable or a call is pending
    */
  def attempt[A](always: Boolean)(request: ClusterEnumerator => A): Option[Instant => Option[A]] =
    Option.when(always || record.isGood && isIdle) {
      val since = clock.instant()
      val call  = submit(request)
      (deadline: Instant) =>
        try {
          val reply = await(name, call, left(deadline))
          recover()
          Some(reply)
        } catch {
          case _: TimeoutException =>
            record = record.slow(clock.instant())
            None
          case e: ExecutionException =>
            fail(since, e.getCause)
            None
        }
    }

  private def recorded[A](since: Instant)(result: => A): A =
    try {
      val reply = result
      recover()
      reply
    } catch {
      case e: ExecutionException =>
        record = record.failed(since, clock.instant(), e.getCause)
        throw e.getCause
    }

  /** Replaces the function that creates the enumerator. The worker creates the enumerator again before the next
    * request.
    */
  def renew(makeOther: => ClusterEnumerator): Unit = onThread {
    make = () => makeOther
    drop()
  }

  /** Calls a method of the enumerator that sends no request; None without an enumerator, or while a call is pending.
    * The returned function waits for the result, so that all workers run at the same time.
    */
  def peek[A](request: ClusterEnumerator => A): Option[() => A] = Option.when(created.nonEmpty && isIdle) {
    val call = submit(request)
    () => call.get()
  }

  /** Returns true if no call is pending. A query that stops during a start or a replay leaves a pending call. */
  private def isIdle: Boolean = !isCalled && resting.isDone

  private def isCalled: Boolean = requested.nonEmpty || submitted.stream().anyMatch(!_.isDone)

  /** Commits a position to the consumer group, after all earlier requests. */
  def commit(position: KafkaPosition): Unit = onThread(commitNow(position))

  private def commitNow(at: KafkaPosition): Unit = if (at.offsets.nonEmpty) created.foreach(_.committed(at))

  /** Stores the skipped ranges before a position, after all earlier requests. [[close]] waits until the ranges are
    * stored.
    */
  def storeUnread(position: KafkaPosition): Unit = onThread { val _ = isStored(position, enumerator) }

  /** Stores the skipped ranges before a position. Returns false after a failure. */
  private def isStored(at: KafkaPosition, of: => ClusterEnumerator, effect: String = ClusterWorker.Lost): Boolean =
    try {
      of.storeUnread(at)
      true
    } catch {
      case e @ (NonFatal(_) | _: InterruptedException) =>
        ClusterWorker.logger.warn(s"The offsets that readers of cluster $name skipped could not be stored. $effect", e)
        e match {
          case _: InterruptedException | _: InterruptedIOException => Thread.currentThread().interrupt()
          case _                                                   => ()
        }
        false
    }

  /** Begins to close, without waiting. */
  def end(): Unit = if (!thread.isShutdown) {
    cancel()
    onThread {
      try drop()
      finally closed.countDown()
    }
    thread.shutdown()
  }

  /** Closes the worker without waiting. Returns a latch that is released when the enumerator is closed. */
  def closeSoon(): CountDownLatch = {
    end()
    val deadline = ClusterWorker.closing()
    DaemonThread.named(s"splice-kafka-close-$name-$run").newThread(() => close(deadline)).start()
    closed
  }

  override def close(): Unit = close(ClusterWorker.closing())

  /** Closes the worker.
    *
    * @param deadline
    *   the time at which to stop waiting for a running call, as `System.nanoTime`
    */
  def close(deadline: Long): Unit = {
    end()
    if (!thread.awaitTermination(math.max(deadline - System.nanoTime(), 0L), TimeUnit.NANOSECONDS)) {
      ClusterWorker.logger.warn(s"A call to cluster $name does not end. Splice closes the clients during the call.")
      // The close of the enumerator is one of the calls that have not begun.
      thread.shutdownNow().forEach(_.run())
    }
  }

  private def reach(of: ClusterEnumerator, request: ClusterRequest): ClusterResponse = {
    if (ends && begun.isEmpty) {
      of.freeze()
      begun = Some(request.draining)
    }
    // Frozen ends do not determine the end of a topic that was removed after the ends were fixed.
    val decided = begun.fold(request.draining)(first =>
      request.draining.filter { case (topic, now) => first.get(topic).exists(_.since == now.since) }
    )
    ClusterResponse.of(of, request.copy(draining = decided))
  }

  private def submit[A](request: ClusterEnumerator => A): JFuture[A] = {
    submitted.removeIf(_.isDone)
    val call = thread.submit { () =>
      try {
        val requested = enumerator
        val response  = request(requested)
        published = Some(requested.plan)
        response
      } catch {
        case e: SpliceException if KafkaErrors.isOfLogin(e) =>
          drop()
          throw e
      }
    }
    submitted.add(call)
    call
  }

  // A call that waits for a broker would delay the close, which is queued after the call on the thread.
  private def cancel(): Unit = submitted.forEach { call =>
    val _ = call.cancel(true)
  }

  private def onThread(work: => Unit): Unit = { val _ = thread.submit((() => work): Runnable) }

  private def drop(): Unit = {
    created.foreach(_.close())
    created = None
    begun = None
  }

  private def enumerator: ClusterEnumerator = created.getOrElse {
    val fresh = make()
    created = Some(fresh)
    fresh
  }

  private def fail(since: Instant, cause: Throwable): Unit = cause match {
    case e: SpliceException if KafkaErrors.isOfCluster(e) =>
      if (record.error.isEmpty)
        ClusterWorker.logger.warn(s"Batches do not include cluster $name until the cluster responds: ${e.text}")
      record = record.failed(since, clock.instant(), e)
    case e => throw e
  }

  private def recover(): Unit = {
    record.since.foreach(since =>
      ClusterWorker.logger.info(s"Cluster $name responds again. The outage began at $since.")
    )
    record = record.succeeded
    response = Some(clock.instant())
  }
}

private[dynamic] object ClusterWorker {

  private val logger = LoggerFactory.getLogger(classOf[ClusterWorker])

  private val Lost = "The hand-over counts these offsets as read, so the next leg does not supply them."

  // A query must stop within 5 seconds, including all other clients.
  private val Patience = Duration.ofSeconds(4)

  /** Returns the time at which workers that close now stop waiting, as `System.nanoTime`. */
  def closing(): Long = System.nanoTime() + Patience.toNanos

  final private case class Sent(request: ClusterRequest, since: Instant, response: JFuture[ClusterResponse])
}
