// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import org.slf4j.LoggerFactory

/** What happens when records that must be read are gone (`failOnDataLoss`). */
sealed private[splice] trait DataLoss extends Product with Serializable {

  /** Fails, or warns and returns. */
  def report(what: String, ranges: Seq[MissingRange]): Unit
}

private[splice] object DataLoss {

  private val log = LoggerFactory.getLogger(classOf[DataLoss])

  def apply(fail: Boolean): DataLoss = if (fail) Fail else Warn

  case object Fail extends DataLoss {
    override def report(what: String, ranges: Seq[MissingRange]): Unit = throw KafkaErrors.dataLoss(what, ranges)
  }

  case object Warn extends DataLoss {
    override def report(what: String, ranges: Seq[MissingRange]): Unit =
      log.warn(KafkaErrors.dataLoss(what, ranges).getMessage)
  }
}
