// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration

import scala.util.Try

import org.apache.kafka.common.KafkaException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.{SparkEnv, TaskContext}

import splice.kafka.enumerator.SecondLook
import splice.kafka.options.{KafkaSettings, TopicRemoved}
import splice.kafka.split.KafkaSplitRange
import splice.kafka.value.{ValuePlan, ValueReader}
import splice.source.{EnumeratorContext, ReadMode, ReaderSequence, SplitReader, SplitReaderFactory, TaskRanges}

/** Makes readers on executors: each with a consumer that is its slot's from the batch before, if there is one.
  *
  * @param once
  *   whether no later batch can use the consumers, as after a bounded read
  */
final private[splice] case class KafkaReaders(
    columns: StructType,
    run: String,
    settings: ReaderSettings,
    value: Option[ValuePlan],
    once: Boolean
) extends SplitReaderFactory {

  override val columnar: Boolean = value.isEmpty && KafkaBatchReader.shows(columns)

  override def rows(task: TaskRanges): SplitReader[InternalRow] = inTurn(task) { (ranges, own) =>
    val records = new KafkaSplitReader(columns, slot(task.slot, ranges, own))
    value.foldLeft[SplitReader[InternalRow]](records)(new ValueReader(_, _))
  }

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = inTurn(task) { (ranges, own) =>
    new KafkaBatchReader(columns, slot(task.slot, ranges, own))
  }

  /** Holes of a history first: they need a client with another isolation level, and a client reads one range of a partition. */
  private def inTurn[T](task: TaskRanges)(
      reader: (IndexedSeq[KafkaSplitRange], ReaderSettings) => SplitReader[T]
  ): SplitReader[T] = {
    val ranges            = task.ranges.map(_.asInstanceOf[KafkaSplitRange])
    val (filling, others) = ranges.partition(_.holes.nonEmpty)
    if (filling.isEmpty) reader(ranges, settings)
    else {
      def fill = reader(filling, settings.copy(client = settings.client.committedOnly))
      if (others.isEmpty) fill else new ReaderSequence(Iterator(() => fill, () => reader(others, settings)).map(_()))
    }
  }

  private def slot(slot: Option[Int], ranges: IndexedSeq[KafkaSplitRange], settings: ReaderSettings): SlotReader = {
    val key = ReaderKey(run, settings.client, slot)
    // After a failure nobody knows what the consumer has to do with it.
    val retried = Option(TaskContext.get()).exists(_.attemptNumber() > 0)
    val pooled  = if (retried) None else ReaderPool.ofExecutor.borrow(key)(_.fits(ranges)).filter(isUsable(_, ranges))
    val client  = pooled.getOrElse(open(ranges, settings))
    new SlotReader(ranges, client, settings, pooled.isDefined)(
      if (once) { val _ = Try(client.close()) }
      else ReaderPool.ofExecutor.giveBack(key, client, settings.idleTimeout)
    )
  }

  // What was fetched ahead of a topic is of no use once another one has its name.
  private def isUsable(client: SlotConsumer, ranges: Seq[KafkaSplitRange]): Boolean = {
    val usable = client.allows(KafkaSplitRange.topicIds(ranges))
    if (!usable) client.close()
    usable
  }

  private def open(ranges: Seq[KafkaSplitRange], settings: ReaderSettings): SlotConsumer =
    try
      SlotConsumer(
        settings.client.reader(run, largest(ranges)) ++ ExecutorRack.property(settings.rackFrom),
        new TopicIdClient(
          settings.client,
          settings.pollTimeout,
          SecondLook(settings.retries, settings.retryInterval)
        )
      )
    catch {
      case e: KafkaException =>
        throw settings.client.refused(s"a reader of ${ranges.map(_.partition).mkString(", ")}", e)
    }

  private def largest(ranges: Seq[KafkaSplitRange]): Double =
    ranges.map(_.weight.toDouble).maxOption.fold(1.0)(_ / math.max(ranges.iterator.map(_.weight).sum, 1L).toDouble)

  override def toString: String = s"KafkaReaders(${columns.fieldNames.mkString(", ")}, ${settings.client})"
}

private[splice] object KafkaReaders {

  def apply(
      settings: KafkaSettings,
      columns: StructType,
      context: EnumeratorContext,
      reportKey: String
  ): KafkaReaders = {
    val value = ValuePlan(settings.value, columns, context.session)
    val poll  = settings.pollTimeout.getOrElse(networkTimeout)
    KafkaReaders(
      value.fold(columns)(_.record),
      context.run,
      ReaderSettings(
        settings.client,
        settings.failOnDataLoss,
        poll,
        settings.readerIdleTimeout,
        settings.policies.outOfRange.fails,
        settings.rackFrom,
        reportKey,
        settings.policies.recreated,
        settings.retries,
        settings.retryInterval,
        settings.policies.removed == TopicRemoved.Fail
      ),
      value,
      context.mode == ReadMode.Batch
    )
  }

  // Spark's own source waits that long for a record.
  private def networkTimeout: Duration = {
    val seconds = Option(SparkEnv.get).fold(120L)(_.conf.getTimeAsSeconds("spark.network.timeout", "120s"))
    Duration.ofSeconds(seconds)
  }
}
