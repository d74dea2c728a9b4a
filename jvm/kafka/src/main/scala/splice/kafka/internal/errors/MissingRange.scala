// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.errors

import splice.source.LogPartition

/** Offsets of one partition that must be read and no longer exist.
  *
  * @param from
  *   the first offset
  * @param until
  *   the offset after the last one; None if the range continues to the end of the log
  */
final private[splice] case class MissingRange(partition: LogPartition, from: Long, until: Option[Long]) {
  override def toString: String = s"$partition [$from, ${until.getOrElse("end")})"
}

private[splice] object MissingRange {

  // The missing offsets of a history may consist of thousands of ranges.
  private val MostInText = 50

  /** The ranges as text: the first ranges, then the number of the other ranges. */
  def listed(ranges: Seq[MissingRange]): String = {
    val (first, others) = ranges.splitAt(MostInText)
    val more            = if (others.isEmpty) "" else s", and ${others.size} other ranges with ${counted(others)}"
    s"${first.mkString(", ")}$more"
  }

  /** The number of missing records, as text. */
  def counted(ranges: Seq[MissingRange]): String = {
    val (known, open) = ranges.partition(_.until.nonEmpty)
    val count         = known.flatMap(r => r.until.map(_ - r.from)).sum
    val some          = if (open.isEmpty) "" else s" and an unknown number of ${open.map(_.partition).mkString(", ")}"
    s"$count records$some"
  }
}
