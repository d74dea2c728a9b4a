// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{ExecutionException, Executors, Future => JFuture, TimeUnit, TimeoutException}

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.change.Leaving
import splice.kafka.enumerator.{ClusterEnumerator, KafkaPlan}
import splice.kafka.split.KafkaPosition
import splice.kafka.{DaemonThread, KafkaErrors}
import splice.source.SpliceException

/** The enumerator of one cluster on a thread of its own, so that a cluster that does not answer holds up no other.
  *
  * One that is not let in is made anew before it is asked again: what its clients were made of may refer to another password now.
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

  @volatile private var made = Option.empty[ClusterEnumerator]

  @volatile private var ends = false

  @volatile private var published = Option.empty[KafkaPlan]

  // Of that thread, as everything that is asked of the enumerator.
  private var make  = () => makeEnumerator
  private var begun = Option.empty[Map[String, Leaving]]

  private var asked: Option[ClusterWorker.Asked] = None
  private var felt                               = ClusterHealth()

  def health: ClusterHealth = felt

  /** The plan after the last request that succeeded, which has all that the responses so far depend on; None before the first. It does
    * not wait for a request that is under way.
    */
  def plan: Option[KafkaPlan] = published

  /** Asks how far the cluster can be read from a position, unless it is asked already, or was a moment ago and did not answer.
    *
    * @param expected
    *   where partitions begin, of which the log may not have come so far yet
    * @param leaving
    *   topics that were removed, and are still read
    */
  def ask(
      from: KafkaPosition,
      expected: KafkaPosition = KafkaPosition.Empty,
      leaving: Map[String, Leaving] = Map.empty
  ): Unit =
    if (asked.isEmpty && felt.mayAsk(clock.instant()))
      asked = Some(ClusterWorker.Asked(from, clock.instant(), submit(reach(_, from, expected, leaving))))

  /** The answer, waited for until `deadline` if the cluster has answered before; None when there is none yet.
    *
    * @param patient
    *   whether it is waited for also if the cluster gave no answer before
    * @throws splice.source.SpliceException
    *   when the answer is that the query must fail
    */
  def answer(from: KafkaPosition, deadline: Instant, patient: Boolean): Option[Reach] = asked.flatMap { question =>
    val millis = if (felt.isGood || patient) math.max(Duration.between(clock.instant(), deadline).toMillis, 0L) else 0L
    try {
      val reach = question.answer.get(millis, TimeUnit.MILLISECONDS)
      asked = None
      recover()
      // What was asked before the position changed says nothing of it.
      if (question.from == from) Some(reach) else None
    } catch {
      case _: TimeoutException =>
        felt = felt.slow(clock.instant())
        None
      case e: ExecutionException =>
        asked = None
        fail(question.since, e.getCause)
        None
    }
  }

  /** Discards failures, since a cluster that is not active may be unavailable. */
  def rest(): Unit = felt = ClusterHealth()

  /** The cluster is read up to where it ends when it is next asked how far it can be read. */
  def freeze(): Unit = ends = true

  /** Asks something else and waits for the answer, however long it takes. */
  def apply[A](question: ClusterEnumerator => A): A = ahead(question)()

  /** Asks something else, and waits for nothing; what is returned waits for the answer. Whoever wants it once more asks again. */
  def ahead[A](question: ClusterEnumerator => A): () => A = {
    def send() = clock.instant() -> submit(question)
    var first  = Option(send())
    () => {
      val (since, asked) = first.getOrElse(send())
      first = None
      await(since, asked)
    }
  }

  private def await[A](since: Instant, asked: JFuture[A]): A =
    try {
      val answer = asked.get()
      recover()
      answer
    } catch {
      case e: ExecutionException =>
        felt = felt.failed(since, clock.instant(), e.getCause)
        throw e.getCause
    }

  /** Takes another way to make the enumerator, which is made anew before it is asked again. */
  def renew(makeOther: => ClusterEnumerator): Unit = onThread {
    make = () => makeOther
    drop()
  }

  /** Asks what needs no server, of an enumerator that is there. */
  def peek[A](question: ClusterEnumerator => A): Option[A] =
    if (made.nonEmpty && asked.isEmpty) Some(submit(question).get()) else None

  /** Commits a position to the consumer group, after all requests that were sent before. */
  def commit(position: KafkaPosition): Unit =
    if (position.offsets.nonEmpty) onThread(made.foreach(_.committed(position)))

  /** Begins to close, and waits for nothing. */
  def end(): Unit = if (!thread.isShutdown) {
    onThread(made.foreach(_.close()))
    thread.shutdown()
    // A call that waits for a server is given up.
    asked.foreach(_.answer.cancel(true))
  }

  override def close(): Unit = {
    end()
    if (!thread.awaitTermination(ClusterWorker.Patience.toMillis, TimeUnit.MILLISECONDS)) {
      val _ = thread.shutdownNow()
    }
  }

  private def reach(
      of: ClusterEnumerator,
      from: KafkaPosition,
      expected: KafkaPosition,
      leaving: Map[String, Leaving]
  ): Reach = {
    if (ends && begun.isEmpty) {
      of.freeze()
      begun = Some(leaving)
    }
    // Frozen ends do not decide where a topic ends that was removed after they were taken.
    val decided = begun.fold(leaving)(first => leaving.filter { case (topic, now) => first.get(topic).contains(now) })
    Reach.of(of, from, expected, decided)
  }

  private def submit[A](question: ClusterEnumerator => A): JFuture[A] = thread.submit { () =>
    try {
      val asked    = enumerator
      val response = question(asked)
      published = Some(asked.plan)
      response
    } catch {
      case e: SpliceException if KafkaErrors.isOfLogin(e) =>
        drop()
        throw e
    }
  }

  private def onThread(work: => Unit): Unit = { val _ = thread.submit((() => work): Runnable) }

  private def drop(): Unit = {
    made.foreach(_.close())
    made = None
    begun = None
  }

  private def enumerator: ClusterEnumerator = made.getOrElse {
    val one = make()
    made = Some(one)
    one
  }

  private def fail(since: Instant, cause: Throwable): Unit = cause match {
    case e: SpliceException if KafkaErrors.isOfCluster(e) =>
      if (felt.error.isEmpty)
        ClusterWorker.log.warn(s"Batches go without cluster $name until it answers: ${e.getMessage}")
      felt = felt.failed(since, clock.instant(), e)
    case e => throw e
  }

  private def recover(): Unit = {
    felt.since.foreach(since => ClusterWorker.log.info(s"Cluster $name answers again, after no answer since $since."))
    felt = felt.answered
  }
}

private[dynamic] object ClusterWorker {

  private val log = LoggerFactory.getLogger(classOf[ClusterWorker])

  private val Patience = Duration.ofSeconds(5)

  final private case class Asked(from: KafkaPosition, since: Instant, answer: JFuture[Reach])
}
