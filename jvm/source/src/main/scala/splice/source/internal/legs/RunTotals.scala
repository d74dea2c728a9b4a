// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

import scala.collection.immutable.SortedMap

/** Totals of a run over parts, such as legs and clusters, that may start and end several times within the run.
  *
  * The counters of a part restart at 0 when its enumerator is created again. The totals of the run never decrease.
  */
final private[splice] class RunTotals {

  private var before = Map.empty[String, Long]
  private var last   = Map.empty[String, Map[String, Long]]

  /** Returns the totals of all parts, including parts that have ended.
    *
    * @param now
    *   figures of each part. Keys that do not end in `Total` are ignored
    */
  def apply(now: Iterable[(String, Iterable[(String, String)])]): SortedMap[String, String] = {
    val counts = now.map { case (part, figures) => part -> RunTotals.of(figures) }.toMap
    for ((part, totals) <- last; (key, count) <- totals)
      if (counts.get(part).flatMap(_.get(key)).forall(_ < count)) before = RunTotals.added(before, key, count)
    last = counts
    val sums = counts.valuesIterator.flatten.foldLeft(before) { case (all, (key, count)) =>
      RunTotals.added(all, key, count)
    }
    SortedMap.from(sums.view.mapValues(_.toString))
  }
}

private[splice] object RunTotals {

  private def of(figures: Iterable[(String, String)]): Map[String, Long] =
    figures.collect { case (key, text) if key.endsWith("Total") => text.toLongOption.map(key -> _) }.flatten.toMap

  private def added(all: Map[String, Long], key: String, count: Long) = all.updated(key, all.getOrElse(key, 0L) + count)
}
