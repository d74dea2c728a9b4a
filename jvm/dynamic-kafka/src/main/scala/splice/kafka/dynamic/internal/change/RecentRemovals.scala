// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.internal.state.AppliedMetadata

/** Counts the topics that the changes of the last 24 hours removed. Only one thread uses this object.
  *
  * @param find
  *   returns the change of a number, if the checkpoint contains it
  */
final private[dynamic] class RecentRemovals(find: Int => Option[AppliedMetadata]) {

  import RecentRemovals._

  // Each poll checks a rejected document again, and a change may contain thousands of topics.
  private var known = Map.empty[Int, Step]

  /** Returns the removals of the last 24 hours.
    *
    * @param last
    *   the number of the last change
    */
  def until(last: Int, now: Instant): Recent = {
    val steps          = LazyList.iterate(last)(_ - 1).map(step).takeWhile(_.nonEmpty).flatten
    val (inside, left) = steps.span(_.at.exists(_.isAfter(now.minus(Window))))
    val counted        = inside ++ left.take(1)
    known = counted.map(step => step.number -> step).toMap
    Recent(inside.map(_.removed).sum, counted.map(_.topics).maxOption.getOrElse(0))
  }

  private def step(number: Int): Option[Step] = known.get(number).orElse(find(number).map { is =>
    val removed = find(number - 1).fold(0)(was => count(was.renamed(is.renames).streamOf, is.streamOf))
    Step(number, is.at, removed, is.streamOf.size)
  })
}

private[dynamic] object RecentRemovals {

  private val Window = Duration.ofHours(24)

  /** Removals within 24 hours.
    *
    * @param removed
    *   number of topics that changes removed
    * @param most
    *   the greatest number of topics in that time
    */
  final case class Recent(removed: Int, most: Int)

  val Nothing: Recent = Recent(0, 0)

  final private case class Step(number: Int, at: Option[Instant], removed: Int, topics: Int)

  /** Returns the number of topics that no stream contains any more. A topic that its stream replaces by a new topic is
    * not counted.
    *
    * @param was
    *   the stream of each topic before
    * @param is
    *   the stream of each topic after
    */
  def count(was: SortedMap[ClusterTopic, String], is: SortedMap[ClusterTopic, String]): Int = {
    def streams(topics: SortedMap[ClusterTopic, String]) =
      topics.valuesIterator.foldLeft(SortedMap.empty[String, Int]) {
        case (all, stream) => all.updated(stream, all.getOrElse(stream, 0) + 1)
      }
    val gained = streams(is -- was.keySet)
    streams(was -- is.keySet).map { case (stream, lost) => math.max(lost - gained.getOrElse(stream, 0), 0) }.sum
  }
}
