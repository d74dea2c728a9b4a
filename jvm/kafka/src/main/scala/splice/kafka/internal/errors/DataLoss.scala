// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.errors

import java.util.concurrent.atomic.LongAdder

import org.slf4j.LoggerFactory

/** Policy for records that must be read and no longer exist (`failOnDataLoss`). */
sealed private[splice] trait DataLoss {

  /** Throws a data-loss error, or logs a warning and returns. */
  def report(what: String, ranges: Seq[MissingRange]): Unit
}

private[splice] object DataLoss {

  private val log = LoggerFactory.getLogger(classOf[DataLoss])

  /** @param skipped counts the offsets of ranges that a warning reports */
  def apply(fail: Boolean, skipped: SkippedRows): DataLoss = if (fail) Fail else new Warn(skipped)

  case object Fail extends DataLoss {
    override def report(what: String, ranges: Seq[MissingRange]): Unit = throw KafkaErrors.dataLoss(what, ranges)
  }

  final private class Warn(skipped: SkippedRows) extends DataLoss {
    override def report(what: String, ranges: Seq[MissingRange]): Unit = {
      skipped.add(ranges)
      log.warn(KafkaErrors.dataLoss(what, ranges).getMessage)
    }
  }
}

/** Number of offsets that policies have skipped. A range without an end does not count. Any thread may use it. */
final private[splice] class SkippedRows {

  private val sum = new LongAdder

  def add(ranges: Seq[MissingRange]): Unit =
    ranges.foreach(range => range.until.foreach(end => sum.add(math.max(end - range.from, 0L))))

  /** Adds a number of offsets that another component has counted. */
  def add(offsets: Long): Unit = sum.add(offsets)

  def total: Long = sum.sum
}
