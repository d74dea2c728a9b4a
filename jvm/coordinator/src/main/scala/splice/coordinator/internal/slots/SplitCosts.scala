// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import scala.collection.mutable

/** Averages of the costs of splits in this run. Younger batches have more weight. The class also detects when the costs
  * call for another assignment.
  *
  * The averages are kept in memory only, because the resulting layout is stored in the side log. One thread uses the
  * instance.
  */
final private[coordinator] class SplitCosts {

  import SplitCosts._

  private val averages = mutable.HashMap.empty[String, Average]
  private var tilted   = 0
  private var patience = FirstPatience

  /** Adds the costs of a batch to the averages. */
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

  /** Removes the costs of splits that `splits` does not select. */
  def retain(splits: String => Boolean): Unit = { val _ = averages.filterInPlace((split, _) => splits(split)) }

  /** Returns true if the slots have been out of balance for enough consecutive batches that moving splits pays off.
    * The coordinator calls this method once per batch, because each call counts as one batch.
    */
  def persists(fullest: Long, least: Long): Boolean = {
    tilted = if (fullest > least * Tilt) tilted + 1 else 0
    val long = tilted >= patience
    if (long) {
      tilted = 0
      // The threshold doubles, so an alternating load rarely moves splits and writes layouts.
      patience = math.min(patience * 2, LastPatience)
    }
    long
  }
}

private[coordinator] object SplitCosts {
  private val Fading = 0.8

  // Mutable, because each batch changes the averages of all splits.
  final private class Average(var cost: Double) {
    def fade(): Unit            = cost *= Fading
    def add(more: Double): Unit = cost += more
  }

  private val Tilt          = 1.2
  private val FirstPatience = 8
  private val LastPatience  = 1024
}
