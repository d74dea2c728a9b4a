// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.split.ClusterTopic

/** Streams that a document changes together, because they share a topic before or after the change.
  *
  * @param streams
  *   names of the streams
  * @param at
  *   the state of these streams, of their topics and of all clusters
  * @param document
  *   the document with these streams only
  */
final private[dynamic] case class StreamGroupPart(
    streams: SortedSet[String],
    at: AppliedMetadata,
    document: StreamMetadata
)

/** Groups of streams that a document changes together. */
private[dynamic] object StreamGroups {

  /** Returns the groups of the streams that a document adds, changes or removes. The rules of a group read only the
    * streams of the group, because a document may change thousands of streams.
    */
  def changed(at: AppliedMetadata, document: StreamMetadata): Seq[StreamGroupPart] = {
    val names   = at.streams.keySet ++ document.streams.keySet
    val before  = at.topics.keysIterator.flatMap(topic => at.stream(topic).map(topic -> _))
    val after   = AppliedMetadata.streamOf(document.streams.values)
    val streams = grouped((before ++ after).filter { case (_, name) => names(name) })
    val all     = joined(names, streams.valuesIterator)
    val numbers = SortedMap.from(all.zipWithIndex.flatMap { case (group, n) => group.iterator.map(_ -> n) })
    // A removed topic that no stream of the state or of the document contains belongs to no group.
    val topics = grouped(streams.iterator.map { case (topic, of) => numbers(of.head) -> topic })
    all.zipWithIndex.collect {
      case (group, n) if group.exists(name => at.streams.get(name) != document.streams.get(name)) =>
        def states = topics.getOrElse(n, SortedSet.empty[ClusterTopic]).iterator
          .flatMap(topic => at.topics.get(topic).map(topic -> _))
        StreamGroupPart(
          group,
          at.copy(
            streams = only(at.streams, group),
            topics = SortedMap.from(states),
            generations = only(at.generations, group)
          ),
          document.copy(streams = only(document.streams, group))
        )
    }
  }

  /** Returns a document with the streams of a group from `document`, and with all other streams unchanged. */
  def part(at: AppliedMetadata, document: StreamMetadata, group: String => Boolean): StreamMetadata =
    document.copy(streams = at.streams.filterNot(s => group(s._1)) ++ document.streams.filter(s => group(s._1)))

  private def only[A](all: SortedMap[String, A], names: SortedSet[String]): SortedMap[String, A] =
    SortedMap.from(names.iterator.flatMap(name => all.get(name).map(name -> _)))

  /** Returns the values of each key. The names of a document may have equal hash codes, which make a hash map slow. */
  def grouped[A: Ordering, B: Ordering](pairs: Iterator[(A, B)]): SortedMap[A, SortedSet[B]] =
    pairs.foldLeft(SortedMap.empty[A, SortedSet[B]]) { case (all, (key, value)) =>
      all.updated(key, all.getOrElse(key, SortedSet.empty[B]) + value)
    }

  /** Returns the groups of names that sets join.
    *
    * @param sharing
    *   names that are in one group
    */
  private def joined(names: Iterable[String], sharing: Iterator[SortedSet[String]]): Seq[SortedSet[String]] = {
    val links = grouped(sharing.flatMap(set => set.iterator.flatMap(name => Seq(set.head -> name, name -> set.head))))
    @tailrec def reached(open: List[String], group: SortedSet[String]): SortedSet[String] = open match {
      case name :: rest if group(name) => reached(rest, group)
      case name :: rest                => reached(links.getOrElse(name, Nil) ++: rest, group + name)
      case Nil                         => group
    }
    names.foldLeft((Vector.empty[SortedSet[String]], SortedSet.empty[String])) { case ((groups, known), name) =>
      if (known(name)) groups -> known
      else {
        val group = reached(List(name), SortedSet.empty)
        (groups :+ group, known ++ group)
      }
    }._1
  }
}
