// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.util.IdentityHashMap

import scala.collection.immutable.SortedSet

import splice.kafka.dynamic.internal.split.ClusterTopic

/** Function of sets of topics that is evaluated once per instance of a set. The topics of a stream share one set of
  * removed topics, and a comparison of the topics of each set would take quadratic time.
  *
  * @param of
  *   returns the value of a set, from the set and the number of sets before
  */
final private[dynamic] class OncePerSet[A](of: (SortedSet[ClusterTopic], Int) => A)
    extends (SortedSet[ClusterTopic] => A) {

  private val known = new IdentityHashMap[SortedSet[ClusterTopic], A]

  def contains(set: SortedSet[ClusterTopic]): Boolean = known.containsKey(set)

  override def apply(set: SortedSet[ClusterTopic]): A = known.computeIfAbsent(set, of(_, known.size))
}
