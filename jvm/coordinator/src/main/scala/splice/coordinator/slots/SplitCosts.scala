// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.slots

import scala.collection.mutable

/** What splits have cost in this run, younger batches counting for more; and whether that calls for another assignment.
  *
  * It is kept in memory only: what comes of it is a layout, which is written down. Used by one thread.
  */
final private[coordinator] class SplitCosts {

  import SplitCosts._

  private val averages = mutable.HashMap.empty[String, Average]
  private var tilted   = 0
  private var patience = FirstPatience

  /** Takes in the costs of a batch. */
  def learn(batch: IterableOnce[(String, Long)]): Unit = {
    averages.valuesIterator.foreach(_.fade())
    batch.iterator.foreach { case (split, cost) =>
      averages.get(split) match {
        case Some(known) => known.add(cost * (1 - Fading))
        case None        => averages(split) = new Average(cost.toDouble)
      }
    }
  }

  def apply(split: String): Long = averages.get(split).fold(0L)(_.cost.toLong)

  /** Forgets splits that are gone. */
  def retain(splits: String => Boolean): Unit = { val _ = averages.filterInPlace((split, _) => splits(split)) }

  /** Whether the slots have been out of balance for so many batches that moving splits pays. */
  def persists(fullest: Long, least: Long): Boolean = {
    tilted = if (fullest > least * Tilt) tilted + 1 else 0
    val long = tilted >= patience
    if (long) {
      tilted = 0
      // A load that comes and goes must not move splits, and write layouts, for ever.
      patience = math.min(patience * 2, LastPatience)
    }
    long
  }
}

private[coordinator] object SplitCosts {
  private val Fading = 0.8

  // A batch changes the averages of all splits.
  final private class Average(var cost: Double) {
    def fade(): Unit            = cost *= Fading
    def add(more: Double): Unit = cost += more
  }

  private val Tilt          = 1.2
  private val FirstPatience = 8
  private val LastPatience  = 1024
}
