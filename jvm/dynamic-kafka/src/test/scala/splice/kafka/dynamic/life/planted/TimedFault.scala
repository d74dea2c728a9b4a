// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.planted

import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.source.SplitRange

/** Fault that is planted into batches in real-time mode. */
private[life] trait TimedFault {

  /** Returns the range that is read instead of a range. */
  def open(range: SplitRange): SplitRange = range

  /** Returns the ranges that are reported as unread instead of the unread ranges of tasks.
    *
    * @param isReadable
    *   returns true if a cluster is available now
    */
  def unread(planned: Seq[SplitRange], left: Seq[SplitRange])(isReadable: String => Boolean): Seq[SplitRange] = left
}

private[life] object TimedFault {

  object None extends TimedFault

  /** Reports a wrong end of a partition that was read. */
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

  /** Reads a topic that has an end without its end. */
  private object Endless extends TimedFault {
    override def open(range: SplitRange): SplitRange = range match {
      case of: DynamicSplitRange =>
        of.copy(range = of.range.copy(until = Long.MaxValue)(of.range.topicId, of.range.generation))
      case other => other
    }
  }

  /** Loses the offsets of a cluster that is unavailable when the batch ends. */
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

  /** Returns the part of a range from an offset. */
  def from(range: DynamicSplitRange, offset: Long): DynamicSplitRange =
    range.copy(range = range.range.copy(from = offset)(range.range.topicId, range.range.generation))
}
