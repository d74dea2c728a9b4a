// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import splice.source.LogPartition

/** Offsets of one partition that must be read and are gone: from (included) until (excluded; None = to the end). */
final private[splice] case class MissingRange(partition: LogPartition, from: Long, until: Option[Long]) {
  override def toString: String = s"$partition [$from, ${until.getOrElse("end")})"
}

private[splice] object MissingRange {

  // A hole in a history may consist of thousands of ranges.
  private val MostInText = 50

  /** The ranges in words: the first ones, then how many others there are. */
  def listed(ranges: Seq[MissingRange]): String = {
    val (first, others) = ranges.splitAt(MostInText)
    val more            = if (others.isEmpty) "" else s", and ${others.size} other ranges with ${counted(others)}"
    s"${first.mkString(", ")}$more"
  }

  /** How many records are missing, in words. */
  def counted(ranges: Seq[MissingRange]): String = {
    val (known, open) = ranges.partition(_.until.nonEmpty)
    val count         = known.flatMap(r => r.until.map(_ - r.from)).sum
    val some          = if (open.isEmpty) "" else s" and an unknown number of ${open.map(_.partition).mkString(", ")}"
    s"$count records$some"
  }
}
