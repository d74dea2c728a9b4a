// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.errors

import java.util.concurrent.atomic.LongAdder

import org.slf4j.LoggerFactory

import splice.source.LogPartition

/** Policy for records that must be read and no longer exist (`failOnDataLoss`). */
sealed private[splice] trait DataLoss {

  /** Throws a data-loss error, or logs a warning and returns. */
  def report(reason: String, ranges: Seq[MissingRange]): Unit
}

private[splice] object DataLoss {

  private val logger = LoggerFactory.getLogger(classOf[DataLoss])

  /** @param skipped counts the offsets of ranges that a warning reports */
  def apply(fail: Boolean, skipped: SkippedRows): DataLoss = if (fail) Fail else new Warn(skipped)

  case object Fail extends DataLoss {
    override def report(reason: String, ranges: Seq[MissingRange]): Unit = throw KafkaErrors.dataLoss(reason, ranges)
  }

  final private class Warn(skipped: SkippedRows) extends DataLoss {
    override def report(reason: String, ranges: Seq[MissingRange]): Unit = {
      skipped.add(ranges)
      logger.warn(KafkaErrors.dataLoss(reason, ranges).text)
    }
  }
}

/** Number of offsets that policies have skipped. A range without an end does not count. Thread-safe. */
final private[splice] class SkippedRows {

  private val sum = new LongAdder

  def add(ranges: Seq[MissingRange]): Unit =
    ranges.foreach(range => range.until.foreach(end => sum.add(math.max(end - range.from, 0L))))

  /** Adds a number of offsets that another component has counted. */
  def add(offsets: Long): Unit = sum.add(offsets)

  def total: Long = sum.sum
}

/** Offsets of one partition that must be read and no longer exist.
  *
  * @param from
  *   the first offset
  * @param until
  *   the offset after the last offset of the range; None if the range continues to the end of the log
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
    val unknown       = if (open.isEmpty) "" else s" and an unknown number of ${open.map(_.partition).mkString(", ")}"
    s"$count records$unknown"
  }
}
