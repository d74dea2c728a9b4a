// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import scala.collection.immutable.SortedSet

import splice.source.StartPosition

/** The part of a start that one cluster is asked for. */
private[dynamic] object ClusterStart {

  /** Offsets that a hand-over found are those of topics, whatever cluster they are on. */
  def apply(at: StartPosition, topics: SortedSet[String]): StartPosition = at match {
    case StartPosition.Offsets(offsets, onGap) =>
      StartPosition.Offsets(offsets.filter { case (p, _) => topics(p.topic) }, onGap)
    case other => other
  }
}
