// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.Queue

import splice.source.{Position, Source}

/** The first position at which a batch that is read again can begin, by the offsets that Spark keeps.
  *
  * The offset log gives it once in a run, so that it advances over runs of one batch each. Later positions are counted in commits: Spark
  * keeps the offsets of the last batch and of `batchesToRetain` batches before it.
  */
final private[coordinator] class Retention(source: Source[_ <: Position], batches: OffsetLog, batchesToRetain: Int) {

  private var commits: Queue[Position] = Queue.empty

  /** Takes a commit; returns the position if it may have advanced. */
  def committed(until: Position): Option[Position] = {
    val isFirst = commits.isEmpty
    commits = (commits :+ until).takeRight(batchesToRetain + 1)
    if (commits.size > batchesToRetain) commits.headOption
    else if (isFirst) batches.oldest().map(source.position)
    else None
  }
}
