// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import org.scalatest.Assertions

import splice.source.errors.SpliceException

/** Assertions for errors of the Kafka source. */
trait KafkaFailures extends Assertions {

  /** Returns the message of an error with the given condition, such as `KAFKA_DATA.DATA_LOSS`. */
  protected def failure(condition: String)(body: => Any): String = {
    val error = intercept[SpliceException](body)
    assert(error.getCondition == s"SPLICE_$condition", error)
    error.getMessage
  }
}
