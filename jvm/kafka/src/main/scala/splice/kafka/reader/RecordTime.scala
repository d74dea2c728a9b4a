// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import org.apache.kafka.clients.consumer.ConsumerRecord

import splice.kafka.KafkaErrors

/** The timestamp of a record as Spark stores it. */
private[reader] object RecordTime {

  private val Largest = Long.MaxValue / 1000

  /** Microseconds since 1970.
    *
    * @throws splice.source.SpliceException
    *   when the timestamp in milliseconds does not fit; Spark's Kafka source fails for the same records
    */
  def micros(record: ConsumerRecord[_, _]): Long = {
    val millis = record.timestamp
    if (millis > Largest || millis < -Largest)
      throw KafkaErrors.timestampOutOfRange(record.topic, record.partition, record.offset, millis)
    millis * 1000L
  }
}
