// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Mode in which a topic is read. */
sealed abstract class Reading(val title: String)

object Reading {
  case object Batch    extends Reading("batch")
  case object OneBatch extends Reading("AvailableNow, one batch")

  /** AvailableNow in batches of `rows` rows. */
  final case class Batches(rows: Long) extends Reading(f"AvailableNow, batches of $rows%,d rows")
}

/** Case of a race over Kafka.
  *
  * @param flink
  *   true if Flink takes part; Flink reads values only
  * @param splitting
  *   true if Splice also runs with `splitLargePartitions`
  */
final case class KafkaCase(
    topic: TopicSpec,
    reading: Reading,
    columns: Columns,
    flink: Boolean = false,
    splitting: Boolean = false
) {
  def title: String = s"Kafka, ${columns.title}, ${reading.title}: $topic"
}

object KafkaCase {

  private val PerTrigger = 500000L

  /** Main cases. */
  def main(plan: BenchPlan): Seq[KafkaCase] = {
    val topic = TopicSpec(plan.rows, plan.bytes, plan.partitions)
    Seq(
      KafkaCase(topic, Reading.Batch, Columns.All),
      KafkaCase(topic, Reading.OneBatch, Columns.All),
      KafkaCase(topic, Reading.OneBatch, Columns.Value, flink = true)
    )
  }

  /** Cases with other sizes, codecs, partitions, columns and triggers than [[main]]. */
  def matrix(plan: BenchPlan): Seq[KafkaCase] = {
    val topic = TopicSpec(plan.rows, plan.bytes, plan.partitions)
    val large = topic.copy(rows = plan.rows / 5, bytes = plan.bytes * 10)
    Seq(
      KafkaCase(topic, Reading.Batch, Columns.Value),
      KafkaCase(topic, Reading.Batch, Columns.SumOfLengths),
      KafkaCase(topic, Reading.Batches(PerTrigger), Columns.All),
      KafkaCase(topic, Reading.Batches(PerTrigger), Columns.Value),
      KafkaCase(topic.copy(codec = "lz4"), Reading.OneBatch, Columns.All),
      KafkaCase(topic.copy(codec = "zstd"), Reading.OneBatch, Columns.All),
      KafkaCase(large, Reading.OneBatch, Columns.All),
      KafkaCase(large.copy(codec = "lz4"), Reading.OneBatch, Columns.All),
      KafkaCase(large.copy(codec = "zstd"), Reading.OneBatch, Columns.All),
      KafkaCase(topic.copy(partitions = plan.partitions * 8), Reading.OneBatch, Columns.All),
      KafkaCase(topic.copy(skewed = true), Reading.OneBatch, Columns.All, splitting = true)
    )
  }
}
