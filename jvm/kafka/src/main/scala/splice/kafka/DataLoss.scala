// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.util.concurrent.atomic.LongAdder

import org.slf4j.LoggerFactory

/** What happens when records that must be read are gone (`failOnDataLoss`). */
sealed private[splice] trait DataLoss {

  /** Fails, or warns and returns. */
  def report(what: String, ranges: Seq[MissingRange]): Unit
}

private[splice] object DataLoss {

  private val log = LoggerFactory.getLogger(classOf[DataLoss])

  /** @param skipped counts the ranges of warnings */
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

/** Counts the offsets that policies have skipped. A range without a known end is not counted. Used by any thread. */
final private[splice] class SkippedRows {

  private val sum = new LongAdder

  def add(ranges: Seq[MissingRange]): Unit =
    ranges.foreach(range => range.until.foreach(end => sum.add(math.max(end - range.from, 0L))))

  /** Adds offsets that were counted elsewhere. */
  def add(offsets: Long): Unit = sum.add(offsets)

  def total: Long = sum.sum
}
