// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.TimeoutException

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.change.Rejection
import splice.kafka.dynamic.internal.cluster.SameClusters
import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, StreamGroupPart}
import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.{SpliceError, SpliceException}

/** Requests to clusters that the query needs. Failed requests are repeated until `timeout` is over. One timer applies to
  * all clusters.
  *
  * @param before
  *   runs before each further attempt
  */
final private[dynamic] class RepeatedRequest(clock: Clock, timeout: Duration)(before: () => Unit) {

  import RepeatedRequest._

  /** Sends requests at the same time and returns all responses.
    *
    * @param requests
    *   functions that send a request to a cluster, as [[splice.kafka.dynamic.internal.cluster.ClusterWorker.ahead]]
    * @param isRepeated
    *   true if a request is repeated after an error
    * @throws splice.source.errors.SpliceException
    *   if clusters do not respond in time. The error names all of these clusters
    */
  def apply[A](
      requests: Seq[(String, Send[A])],
      isRepeated: SpliceException => Boolean = KafkaErrors.isOfCluster
  ): Seq[(String, A)] = {
    val began    = clock.instant()
    val deadline = began.plus(timeout)

    @tailrec def again(open: Seq[(String, Send[A])], received: Seq[(String, A)]): Seq[(String, A)] = {
      val sent    = open.map { case (name, send) => (name, send, send()) }
      val results = sent.map { case (name, send, response) => (name, send, attempt(response(deadline), isRepeated)) }
      val all     = received ++ results.collect { case (name, _, Right(response)) => name -> response }
      val failed  = results.collect { case (name, send, Left(error)) => (name, send, error) }
      failed.headOption match {
        case None                => all
        case Some((_, _, first)) =>
          val isOver = failed.exists { case (_, _, error) => error.isInstanceOf[TimeoutException] }
          if (isOver || !clock.instant().isBefore(deadline))
            throw DynamicErrors.unavailable(failed.map(_._1).distinct, began, first)
          failed.foreach { case (name, _, error) =>
            logger.warn(s"Splice waits for cluster $name: ${SpliceError.text(error)}")
          }
          before()
          again(failed.map { case (name, send, _) => name -> send }, all)
      }
    }
    again(requests, Nil)
  }

  private def attempt[A](response: => A, isRepeated: SpliceException => Boolean): Either[Exception, A] =
    try Right(response)
    catch {
      case e: SpliceException if isRepeated(e) => Left(e)
      case e: TimeoutException                 => Left(e)
    }
}

private[dynamic] object RepeatedRequest {

  private val logger = LoggerFactory.getLogger(classOf[RepeatedRequest])

  /** Sends a request. The returned function waits for the response until a deadline. */
  type Send[A] = () => Instant => A
}

/** Topics that a document adds, and that are read already under another name of the same cluster. */
private[enumerator] object RepeatedTopics {

  /** Returns the reason why a group of streams is rejected: a topic would be read again under another name of its
    * cluster. The id of a new cluster is not known yet.
    *
    * @param base
    *   the state of all streams
    * @param id
    *   returns the id of a cluster that has responded before
    * @param change
    *   the state of the group after the document is applied
    */
  def rejection(base: AppliedMetadata, part: StreamGroupPart, at: DynamicPosition, id: String => Option[String])(
      change: => AppliedMetadata
  ): Option[Rejection] = {
    val pairs = for {
      topic <- AppliedMetadata.streamOf(part.document.streams.values).keys.toSeq if !base.streamOf.contains(topic)
      other <- base.clustersOf.getOrElse(topic.topic, Nil) if other != topic.cluster
    } yield topic -> ClusterTopic(other, topic.topic)
    if (pairs.isEmpty) None
    else {
      def adding(position: DynamicPosition, topics: Iterable[ClusterTopic]) = topics.foldLeft(position) { (all, t) =>
        all.updated(t.cluster, all.of(t.cluster).and(at.of(t.cluster).only(t.topic)))
      }
      // The topic of another group keeps its state and its position.
      val kept   = pairs.map(_._2).filterNot(part.at.topics.contains).distinct
      val now    = change
      val own    = adding(DynamicPosition.of(at.change, Nil), part.at.topics.keys)
      val states = now.copy(topics = now.topics ++ kept.map(topic => topic -> base.topics(topic)))
      val moved  = states.expecting(adding(now.moved(own), kept))
      val found  = for {
        (topic, other) <- pairs.iterator
        if SameClusters.overlaps(states, moved, topic.topic, topic.cluster, other.cluster)
        if !SameClusters.isUnread(if (part.at.topics.contains(other)) now else base, moved, other)
        known <- id(topic.cluster) if id(other.cluster).contains(known)
      } yield Rejection.invalid(
        DynamicErrors.sameCluster(Seq(topic.cluster, other.cluster), known, Seq(topic.topic))
      )
      found.nextOption()
    }
  }
}
