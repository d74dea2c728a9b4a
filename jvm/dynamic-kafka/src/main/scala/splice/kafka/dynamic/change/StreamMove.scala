// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import scala.collection.immutable.SortedSet

import splice.kafka.dynamic.split.ClusterTopic
import splice.kafka.dynamic.{KafkaStream, StreamCutover, StreamMetadata}

/** A stream that an answer takes from topics to others, and says where.
  *
  * A move whose time has not come is made anew by each answer, so that the time may change as long.
  */
final private[dynamic] case class StreamMove(
    stream: String,
    from: SortedSet[ClusterTopic],
    to: SortedSet[ClusterTopic],
    cutover: StreamCutover
)

private[dynamic] object StreamMove {

  def all(at: AppliedMetadata, found: StreamMetadata): Seq[StreamMove] = {
    val there = AppliedMetadata.streamOf(found.streams.values)
    for {
      stream  <- found.streams.values.toSeq
      cutover <- stream.cutover
      from = left(at, stream, there.keySet)
      to   = SortedSet.from(there.collect {
        case (t, stream.name) if !at.streamOf.contains(t) || at.begins.contains(t) => t
      })
      if from.nonEmpty && to.nonEmpty
    } yield StreamMove(stream.name, from, to, cutover)
  }

  // Nothing was read of a topic whose own time has not come: the stream never came to it.
  private def left(at: AppliedMetadata, stream: KafkaStream, there: collection.Set[ClusterTopic]) = {
    val removed = at.streamOf.collect { case (t, stream.name) if !there(t) && !at.begins.contains(t) => t }
    val pending = at.leaving.collect { case (t, Leaving(stream.name, _, _: LeavingPlan.Until, _)) if !there(t) => t }
    SortedSet.from(removed) ++ pending
  }
}
