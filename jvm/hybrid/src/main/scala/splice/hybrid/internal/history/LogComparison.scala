// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import scala.collection.immutable.SortedMap

import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.HandOverErrors
import splice.source.LogPartition
import splice.source.log.{LogPartitions, LogRange}

/** Compares the last record of a history per partition with the log record at the same offset. Offsets alone cannot
  * prove that the history is a copy of this log.
  */
private[hybrid] object LogComparison {

  /** @param before
    *   legs of the history
    * @param ranges
    *   ranges of the log
    * @return
    *   compared partitions: partitions with a timestamp or key in the history and with the record in the log
    * @throws splice.source.errors.SpliceException
    *   if a record differs
    */
  def apply(
      before: Seq[Leg],
      leg: Leg,
      history: Seq[PartitionHistory],
      ranges: SortedMap[LogPartition, LogRange],
      log: => LogPartitions
  ): Set[LogPartition] = {
    val wanted = for {
      past  <- history
      last  <- past.last if last.isKnown
      range <- ranges.get(past.partition) if range.from <= last.offset && last.offset < range.until
    } yield past.partition -> last
    if (wanted.isEmpty) Set.empty
    else {
      val records   = log.records(SortedMap.from(wanted.map { case (p, last) => p -> last.offset }))
      val different = for {
        (p, last) <- wanted
        record    <- records.get(p)
        text      <- last.difference(record)
      } yield s"$p offset ${last.offset}: $text"
      if (different.nonEmpty) throw HandOverErrors.otherLog(before, leg.name, different)
      records.keySet.toSet
    }
  }
}
