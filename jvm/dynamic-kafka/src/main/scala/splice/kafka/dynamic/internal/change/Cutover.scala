// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.internal.state.{AppliedMetadata, TopicEvent}

/** Move of a stream from topics to other topics by a cutover.
  *
  * Each document plans a move again until the time of the move is reached, so that the time may change until then.
  */
final private[dynamic] case class StreamMove(
    stream: String,
    from: SortedSet[ClusterTopic],
    to: SortedSet[ClusterTopic],
    cutover: Place
)

private[dynamic] object StreamMove {

  def all(at: AppliedMetadata, document: StreamMetadata): Seq[StreamMove] = {
    // Thousands of streams may move, so the topics of all streams are collected once.
    lazy val listed  = AppliedMetadata.streamOf(document.streams.values)
    lazy val leaving = DrainOrder.byStream(left(at, listed.contains))
    lazy val coming  = DrainOrder.byStream(listed.filter { case (t, _) => isNew(at, t) })
    for {
      stream  <- document.streams.values.toSeq
      cutover <- stream.cutover
      from = leaving.getOrElse(stream.name, SortedSet.empty[ClusterTopic])
      to   = coming.getOrElse(stream.name, SortedSet.empty[ClusterTopic])
      // A new topic may still wait for the time after Splice has abandoned the old topics.
      if to.nonEmpty && (from.nonEmpty || to.exists(at.waiting.get(_).exists(_.stream == stream.name)))
    } yield StreamMove(stream.name, from, to, cutover)
  }

  /** Returns the topics that streams leave by a cutover, but whose start is not determined yet, each with its stream. */
  def unbegun(at: AppliedMetadata, document: StreamMetadata): SortedMap[ClusterTopic, String] = {
    val listed = AppliedMetadata.streamOf(document.streams.values)
    val moving = listed.collect {
      case (t, stream) if isNew(at, t) && document.streams(stream).cutover.nonEmpty => stream
    }.toSet
    at.waiting.collect { case (t, is) if is.time.isEmpty && !listed.contains(t) && moving(is.stream) => t -> is.stream }
  }

  private def isNew(at: AppliedMetadata, topic: ClusterTopic): Boolean = at.topics.get(topic).forall {
    case is: Waiting => is.time.nonEmpty
    case _           => !at.streamOf.contains(topic)
  }

  // A stream also leaves topics that are being read to a stop, or that were read to a stop.
  private def left(at: AppliedMetadata, isListed: ClusterTopic => Boolean): SortedMap[ClusterTopic, String] =
    SortedMap.from(at.topics.keysIterator.filterNot(isListed).flatMap { t =>
      def cutting = at.draining.get(t).filter(_.bound.isInstanceOf[Bound.At]).map(_.stream)
      at.streamOf.get(t).fold(cutting)(Some(_).filterNot(_ => at.waiting.contains(t))).map(t -> _)
    })
}

/** Effects of cutovers when a document is applied.
  *
  * @param bounds
  *   bounds of topics that streams leave
  * @param times
  *   times of topics to which streams move at a time
  * @param starts
  *   starts of topics to which streams move at offsets
  * @param untimed
  *   topics that waited for a time, which offsets of other topics replace
  */
final private[dynamic] case class CutoverPlan(
    bounds: SortedMap[ClusterTopic, Bound],
    times: SortedMap[ClusterTopic, Place.At],
    starts: SortedMap[ClusterTopic, TopicEvent.Start],
    untimed: SortedSet[ClusterTopic]
)

private[dynamic] object CutoverPlan {
  val Nothing: CutoverPlan = CutoverPlan(SortedMap.empty, SortedMap.empty, SortedMap.empty, SortedSet.empty)
}

/** Order in which the topics of a stream that moves are read. */
sealed abstract private[dynamic] class CutoverOrder(val word: String) extends Product with Serializable

private[dynamic] object CutoverOrder {

  /** Removed and new topics are read at the same time. */
  case object Together extends CutoverOrder("together")

  /** The new topics of a stream wait until its removed topics are drained. */
  case object Stream extends CutoverOrder("stream")

  val all: Seq[CutoverOrder] = Seq(Together, Stream)
}
