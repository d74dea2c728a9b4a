// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** The rows that a task has returned. Spark creates instances of the metric classes by name. */
final class KafkaRecordsMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.Records
  override def description: String = "records read from Kafka"
}

/** The bytes of keys and values that a task has returned. */
final class KafkaBytesMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.Bytes
  override def description: String = "bytes of keys and values read from Kafka"
}

/** The time that tasks spent in polls. */
final class KafkaPollTimeMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.PollMillis
  override def description: String = "milliseconds in polls of Kafka"
}

/** The duration of fetch requests. */
final class KafkaFetchTimeMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.FetchMillis
  override def description: String = "milliseconds of fetch requests to Kafka"
}

/** The number of tasks that reused an open reader. */
final class KafkaPoolHitsMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.PoolHits
  override def description: String = "Kafka readers reused"
}

/** The number of values that could not be parsed. */
final class KafkaParseErrorsMetric extends CustomSumMetric {
  override def name: String        = KafkaMetrics.ParseErrors
  override def description: String = "Kafka records whose values could not be parsed"
}

private[splice] object KafkaMetrics {

  val Records     = "kafkaRecords"
  val Bytes       = "kafkaBytes"
  val PollMillis  = "kafkaPollMillis"
  val FetchMillis = "kafkaFetchMillis"
  val PoolHits    = "kafkaPoolHits"

  /** Declared only if values are parsed. */
  val ParseErrors = "kafkaParseErrors"

  val declared: Seq[CustomMetric] =
    Seq(
      new KafkaRecordsMetric,
      new KafkaBytesMetric,
      new KafkaPollTimeMetric,
      new KafkaFetchTimeMetric,
      new KafkaPoolHitsMetric
    )

  /** The metrics of a source that parses values. */
  val parsing: Seq[CustomMetric] = declared :+ new KafkaParseErrorsMetric

  /** A metric of a task. Spark reads the current value. */
  final class Live(override val name: String, read: () => Long) extends CustomTaskMetric {
    override def value: Long = read()
  }
}
