// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import scala.collection.immutable.Queue

import splice.source.{Position, Source}

/** Determines the first position at which a replayed batch can begin, from the offsets that Spark keeps.
  *
  * At the first commit of a run, the offset log provides the position. Therefore the position also advances across runs
  * of one batch each. Later positions are the ends of earlier commits: Spark keeps the offsets of the last batch and of
  * `batchesToRetain` earlier batches.
  */
final private[coordinator] class Retained(source: Source[_ <: Position], batches: OffsetLog, batchesToRetain: Int) {

  private var commits: Queue[Position] = Queue.empty

  /** Records a commit. Returns the first position if this position may have advanced. */
  def committed(until: Position): Option[Position] = {
    val isFirst = commits.isEmpty
    commits = (commits :+ until).takeRight(batchesToRetain + 1)
    if (commits.size > batchesToRetain) commits.headOption
    else if (isFirst) batches.oldest().map(source.position)
    else None
  }
}
