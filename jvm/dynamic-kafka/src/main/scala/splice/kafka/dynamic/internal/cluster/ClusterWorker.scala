// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{
  ConcurrentHashMap,
  ExecutionException,
  Executors,
  Future => JFuture,
  TimeUnit,
  TimeoutException
}

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.state.Availability
import splice.kafka.dynamic.internal.state.TopicState.Draining
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaPlan}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.internal.DaemonThread

/** The enumerator of one cluster on a thread of its own, so that an unavailable cluster does not delay the others.
  *
  * After an error of the login, the worker creates the enumerator again before the next request, since a reference to a password may
  * have another value then.
  *
  * @param makeEnumerator
  *   called on that thread
  */
final private[dynamic] class ClusterWorker(
    name: String,
    run: String,
    clock: Clock
)(makeEnumerator: => ClusterEnumerator)
    extends AutoCloseable {

  private val thread = Executors.newSingleThreadExecutor(DaemonThread.named(s"splice-kafka-$name-$run"))

  private val submitted = ConcurrentHashMap.newKeySet[JFuture[_]]()

  @volatile private var created = Option.empty[ClusterEnumerator]

  @volatile private var ends = false

  @volatile private var published = Option.empty[KafkaPlan]

  // Of that thread, like all calls of the enumerator.
  private var make  = () => makeEnumerator
  private var begun = Option.empty[Map[String, Draining]]

  private var requested: Option[ClusterWorker.Sent] = None
  private var record                             = ClusterHealth()

  private var response = Option.empty[Instant]

  // Topics whose drain cannot end, because some of their partitions do not respond while the cluster does.
  private var blocked = Map.empty[String, ClusterHealth]

  def health: ClusterHealth = record

  /** Responses for all partitions of a topic. */
  def availability(topic: String): Availability = record.availability match {
    case Availability.Available => blocked.get(topic).fold[Availability](Availability.Available)(_.availability)
    case other                  => other
  }

  /** When the last request succeeded; None before the first, and for a cluster that is not active. */
  def responded: Option[Instant] = response

  /** When the request was sent that has no response yet. */
  def pending: Option[Instant] = requested.map(_.since)

  /** The plan after the last request that succeeded, which has all that the responses so far depend on; None before the first. It does
    * not wait for a pending request.
    */
  def plan: Option[KafkaPlan] = published

  /** Whether the cluster has partitions that the query does not read yet. Any thread may call it. */
  def isStale: Boolean = created.exists(_.isStale)

  /** Sends a request, unless one is pending, or one failed a short time ago. */
  def send(request: ClusterRequest): Unit = {
    // A position that is read without an end moves while a request is pending, whose response does not apply then.
    if (requested.exists(one => one.response.isDone && one.request.from != request.from)) {
      val _ = receive(request.from, Duration.ZERO, clock.instant(), patient = false)
    }
    if (requested.isEmpty && record.maySend(clock.instant())) {
      val now = clock.instant()
      requested = Some(ClusterWorker.Sent(request, now, submit(reach(_, request))))
    }
  }

  /** The response; None when there is none yet, or when it is not for this position.
    *
    * @param wait
    *   how long a batch waits for a cluster
    * @param deadline
    *   until when this batch waits
    * @param patient
    *   whether it also waits for a cluster that is known to be unavailable
    * @throws splice.source.errors.SpliceException
    *   when the query must fail
    */
  def receive(from: KafkaPosition, wait: Duration, deadline: Instant, patient: Boolean): Option[ClusterResponse] =
    requested.flatMap { sent =>
      val now    = clock.instant()
      val waits  = patient || record.isWaitedFor(now, wait)
      val millis = if (waits) math.max(Duration.between(now, deadline).toMillis, 0L) else 0L
      try {
        val reach = sent.response.get(millis, TimeUnit.MILLISECONDS)
        requested = None
        recover()
        blocked = reach.blocked.map { case (topic, error) =>
          topic -> blocked.getOrElse(topic, ClusterHealth()).failed(sent.since, clock.instant(), error)
        }
        // A response to a request from another position does not apply to this one.
        if (sent.request.from == from) Some(reach) else None
      } catch {
        case _: TimeoutException =>
          // A request that was just sent, and that no batch has waited for, is no sign of an outage.
          if (waits) record = record.slow(clock.instant())
          None
        case e: ExecutionException =>
          requested = None
          fail(sent.since, e.getCause)
          None
      }
    }

  /** Discards failures, since a cluster that is not active may be unavailable. */
  def rest(): Unit = {
    record = record.rested
    response = None
    blocked = Map.empty
  }

  /** Fixes the end of the cluster with the next request. */
  def freeze(): Unit = ends = true

  /** Calls the enumerator and waits for the result. */
  def apply[A](question: ClusterEnumerator => A): A = ahead(question)()

  /** Calls the enumerator. The function that this method returns waits for the result; each further call of it is a new request. */
  def ahead[A](question: ClusterEnumerator => A): () => A = {
    def send() = clock.instant() -> submit(question)
    var first  = Option(send())
    () => {
      val (since, requested) = first.getOrElse(send())
      first = None
      await(since, requested)
    }
  }

  private def await[A](since: Instant, requested: JFuture[A]): A =
    try {
      val reply = requested.get()
      recover()
      reply
    } catch {
      case e: ExecutionException =>
        record = record.failed(since, clock.instant(), e.getCause)
        throw e.getCause
    }

  /** Replaces the way to create the enumerator, which is created again before the next request. */
  def renew(makeOther: => ClusterEnumerator): Unit = onThread {
    make = () => makeOther
    drop()
  }

  /** Calls a method of the enumerator that sends no request, if there is an enumerator. The function that this method returns waits for
    * the result, so that all workers run at the same time.
    */
  def peek[A](question: ClusterEnumerator => A): Option[() => A] = Option.when(created.nonEmpty && requested.isEmpty) {
    val call = submit(question)
    () => call.get()
  }

  /** Commits a position to the consumer group, after all requests that were sent before. */
  def commit(position: KafkaPosition): Unit =
    if (position.offsets.nonEmpty) onThread(created.foreach(_.committed(position)))

  /** Begins to close, and waits for nothing. */
  def end(): Unit = if (!thread.isShutdown) {
    // A call that waits for a server would delay the close, which comes after it on the thread.
    submitted.forEach { call =>
      val _ = call.cancel(true)
    }
    onThread(drop())
    thread.shutdown()
  }

  override def close(): Unit = close(ClusterWorker.closing())

  /** Closes.
    *
    * @param deadline
    *   until when to wait for a call that does not end, as `System.nanoTime`
    */
  def close(deadline: Long): Unit = {
    end()
    if (!thread.awaitTermination(math.max(deadline - System.nanoTime(), 0L), TimeUnit.NANOSECONDS)) {
      ClusterWorker.log.warn(s"A call to cluster $name does not end. Splice closes its clients while it runs.")
      // The close of the enumerator is among the calls that have not begun.
      thread.shutdownNow().forEach(_.run())
    }
  }

  private def reach(of: ClusterEnumerator, request: ClusterRequest): ClusterResponse = {
    if (ends && begun.isEmpty) {
      of.freeze()
      begun = Some(request.draining)
    }
    // Frozen ends do not decide where a topic ends that was removed after they were taken.
    val decided = begun.fold(request.draining)(first =>
      request.draining.filter { case (topic, now) => first.get(topic).exists(_.since == now.since) }
    )
    ClusterResponse.of(of, request.copy(draining = decided))
  }

  private def submit[A](question: ClusterEnumerator => A): JFuture[A] = {
    submitted.removeIf(_.isDone)
    val call = thread.submit { () =>
      try {
        val requested    = enumerator
        val response = question(requested)
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

  private def onThread(work: => Unit): Unit = { val _ = thread.submit((() => work): Runnable) }

  private def drop(): Unit = {
    created.foreach(_.close())
    created = None
    begun = None
  }

  private def enumerator: ClusterEnumerator = created.getOrElse {
    val one = make()
    created = Some(one)
    one
  }

  private def fail(since: Instant, cause: Throwable): Unit = cause match {
    case e: SpliceException if KafkaErrors.isOfCluster(e) =>
      if (record.error.isEmpty)
        ClusterWorker.log.warn(s"Batches are planned without cluster $name until it responds: ${e.getMessage}")
      record = record.failed(since, clock.instant(), e)
    case e => throw e
  }

  private def recover(): Unit = {
    record.since.foreach(since =>
      ClusterWorker.log.info(s"Cluster $name responds again. It was unavailable since $since.")
    )
    record = record.succeeded
    response = Some(clock.instant())
  }
}

private[dynamic] object ClusterWorker {

  private val log = LoggerFactory.getLogger(classOf[ClusterWorker])

  // A query stops within 5 seconds, including all other clients.
  private val Patience = Duration.ofSeconds(4)

  /** The time at which workers that close now stop to wait, as `System.nanoTime`. */
  def closing(): Long = System.nanoTime() + Patience.toNanos

  final private case class Sent(request: ClusterRequest, since: Instant, response: JFuture[ClusterResponse])
}
