// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{ExecutionException, Executors, Future => JFuture, TimeUnit, TimeoutException}

import scala.collection.immutable.SortedSet
import scala.util.Using

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.change.{LogPlace, LogPlaces}
import splice.kafka.dynamic.{DynamicSettings, KafkaCluster}
import splice.kafka.enumerator.LogMetadata
import splice.kafka.options.KafkaSettings
import splice.kafka.split.KafkaPosition
import splice.kafka.{DaemonThread, KafkaErrors}
import splice.source.{LogPartition, SpliceException}

/** What a cluster is asked about topics once.
  *
  * @param millis
  *   the time whose place is asked; None = where a topic begins that is new to the query
  * @param read
  *   how far the topics are read: an answer from before they were read further says nothing
  */
final private[dynamic] case class ProbeQuestion(
    cluster: KafkaCluster,
    topics: SortedSet[String],
    millis: Option[Long],
    read: KafkaPosition = KafkaPosition.Empty
) {

  /** The same, however far the topics are read. */
  def wherever: ProbeQuestion = copy(read = KafkaPosition.Empty)
}

/** Asks clusters about topics, each question by clients and on a thread of its own, so that one that does not answer holds up nothing.
  *
  * A new question is waited for as long as a batch waits for a cluster.
  *
  * @param open
  *   makes clients for topics of a cluster; called on that thread
  */
final private[dynamic] class ClusterProbe(settings: DynamicSettings, clock: Clock, run: String)(
    open: KafkaSettings => LogMetadata
) extends AutoCloseable {

  import ClusterProbe._

  private val threads = Executors.newCachedThreadPool(DaemonThread.named(s"splice-kafka-probe-$run"))

  private var asked: Map[ProbeQuestion, Asked]  = Map.empty
  private var next: Map[ProbeQuestion, Instant] = Map.empty
  private var silent: Set[ProbeQuestion]        = Set.empty

  /** The answers that have come so far. An answer is the same until it is dropped.
    *
    * @throws splice.source.SpliceException
    *   when the answer is that the query must fail
    */
  def apply(questions: Seq[ProbeQuestion]): Map[ProbeQuestion, LogPlaces] = {
    val now = clock.instant()
    questions.filterNot(q => asked.contains(q) || next.get(q.wherever).exists(now.isBefore)).foreach { question =>
      asked = asked.filterNot(_._1.wherever == question.wherever) +
        (question -> Asked(now, threads.submit(() => answer(question))))
    }
    questions.flatMap(q => asked.get(q).flatMap(one(q, _)).map(q -> _)).toMap
  }

  /** Whether a question was waited for, or failed, and was not answered since. */
  def isSilent(question: ProbeQuestion): Boolean = silent(question.wherever)

  /** Answers that were of no use: they are asked again after a while. */
  def drop(questions: Iterable[ProbeQuestion]): Unit = questions.foreach { question =>
    asked -= question
    next += question.wherever -> clock.instant().plus(Pause)
  }

  /** Forgets all that was asked. */
  def clear(): Unit = {
    asked = Map.empty
    next = Map.empty
    silent = Set.empty
  }

  override def close(): Unit = { val _ = threads.shutdownNow() }

  private def one(question: ProbeQuestion, asked: Asked): Option[LogPlaces] = {
    // Once a question was waited for, it holds up no batch any more.
    val patience = math.max(Duration.between(clock.instant(), asked.since.plus(settings.clusterWait)).toMillis, 0L)
    val found    =
      try Some(LogPlaces(asked.since, asked.answer.get(patience, TimeUnit.MILLISECONDS)))
      catch {
        case _: TimeoutException   => None
        case e: ExecutionException => failed(question, e.getCause)
      }
    silent = if (found.isEmpty) silent + question.wherever else silent - question.wherever
    found
  }

  private def failed(question: ProbeQuestion, cause: Throwable): Option[LogPlaces] = cause match {
    case e: SpliceException if KafkaErrors.isOfCluster(e) =>
      logger.warn(
        s"Cluster ${question.cluster.name} could not be asked about ${question.topics.mkString(", ")}: ${e.getMessage}"
      )
      drop(Seq(question))
      None
    case e => throw e
  }

  private def answer(question: ProbeQuestion): Map[LogPartition, LogPlace] = {
    val own = settings.of(question.cluster, question.topics)
    Using.resource(open(own)) { log =>
      val there: Set[LogPartition] = log.describe().partitions.toSet
      question.millis match {
        case None => log.starts(own.policies.newPartitions, there).map { case (p, start) =>
            p -> LogPlace(Some(start), start)
          }
        case Some(time) =>
          // Ends come first: a record that lands in between is then read, not skipped.
          val ends  = log.ends(there)
          val found = log.atTime(there.iterator.map(_ -> time).toMap)
          ends.map { case (p, end) => p -> LogPlace(found.get(p).map(_.offset), end) }
      }
    }
  }
}

private[dynamic] object ClusterProbe {

  private val logger = LoggerFactory.getLogger(classOf[ClusterProbe])

  private val Pause = Duration.ofSeconds(1)

  final private case class Asked(since: Instant, answer: JFuture[Map[LogPartition, LogPlace]])
}
