// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.source.SplitRange

/** A fault that is planted into batches that a time ends. */
private[life] trait TimedFault {

  /** The range that is read in place of one. */
  def open(range: SplitRange): SplitRange = range

  /** What is reported in place of what tasks have not read.
    *
    * @param isReadable
    *   whether a cluster is available now
    */
  def unread(planned: Seq[SplitRange], left: Seq[SplitRange])(isReadable: String => Boolean): Seq[SplitRange] = left
}

private[life] object TimedFault {

  object None extends TimedFault

  /** The end of a partition that was read is another one. */
  final private class Moved(by: Long) extends TimedFault {
    override def unread(planned: Seq[SplitRange], left: Seq[SplitRange])(isReadable: String => Boolean) = {
      val starts = planned.collect { case range: DynamicSplitRange => range.splitId -> range.range.from }.toMap
      left.map {
        case range: DynamicSplitRange if range.isOpen && starts.get(range.splitId).exists(_ < range.range.from) =>
          from(range, range.range.from + by)
        case other => other
      }
    }
  }

  /** A topic that has an end is read without it. */
  private object Endless extends TimedFault {
    override def open(range: SplitRange): SplitRange = range match {
      case of: DynamicSplitRange => of.copy(range = of.range.copy(until = Long.MaxValue)(of.range.topicId))
      case other                 => other
    }
  }

  /** The offsets of a cluster are lost that is unavailable when the batch ends. */
  private object Lost extends TimedFault {
    override def unread(planned: Seq[SplitRange], left: Seq[SplitRange])(isReadable: String => Boolean) = left.filter {
      case range: DynamicSplitRange => isReadable(range.cluster)
      case _                        => true
    }
  }

  val all: Seq[(String, TimedFault)] = Seq(
    "the end of a partition is one too high"         -> new Moved(1),
    "the end of a partition is one too low"          -> new Moved(-1),
    "a drain or a stop has no end"                   -> Endless,
    "the offsets of an unavailable cluster are lost" -> Lost
  )

  /** The range from an offset on. */
  def from(range: DynamicSplitRange, offset: Long): DynamicSplitRange =
    range.copy(range = range.range.copy(from = offset)(range.range.topicId))
}
