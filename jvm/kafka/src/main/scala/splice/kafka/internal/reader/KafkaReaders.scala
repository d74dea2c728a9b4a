// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration

import scala.util.Try

import org.apache.kafka.common.KafkaException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.{SparkEnv, TaskContext}

import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.cluster.Recheck
import splice.kafka.internal.consumer.{PassedBatches, ReadDemand, ReadLease, SlotConsumer}
import splice.kafka.internal.options.{KafkaSettings, Subscription, TopicRemoved}
import splice.kafka.internal.pool.{ReaderKey, ReaderSettings, SlotConsumers}
import splice.kafka.internal.split.KafkaSplitRange
import splice.kafka.internal.topicids.{BackgroundRequest, TopicIdClient}
import splice.kafka.internal.value.KafkaLog
import splice.source.internal.ReaderSequence
import splice.source.internal.value.{ValuePlan, ValueReader}
import splice.source.{EnumeratorContext, ReadMode, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}

/** Creates readers on executors. A reader uses the consumer that its slot had in the previous batch, if that consumer
  * is available.
  *
  * @param once
  *   true if no later batch can use the consumers, as after a bounded read
  * @param sizes
  *   the average size of a record of each topic, if a record was read
  * @param atOnce
  *   the number of consumers that a task may have at the same time
  */
final private[splice] case class KafkaReaders(
    columns: StructType,
    run: String,
    settings: ReaderSettings,
    value: Option[ValuePlan],
    once: Boolean,
    sizes: Map[String, Double],
    atOnce: Int
) extends SplitReaderFactory {

  override val columnar: Boolean = value.isEmpty

  override def rows(task: TaskRanges): SplitReader[InternalRow] = inTurn(task) { (ranges, readSettings) =>
    val records = new KafkaSplitReader(columns, slot(task.slot, ranges, readSettings))
    value.fold[SplitReader[InternalRow]](records) { plan =>
      try ValueReader(records, plan)
      catch {
        case e: Throwable =>
          val _ = Try(records.close())
          throw e
      }
    }
  }

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = inTurn(task) { (ranges, readSettings) =>
    new KafkaBatchReader(columns, slot(task.slot, ranges, readSettings))
  }

  /** Reads holes of a history first. Holes require a client with another isolation level, and a client reads one range
    * of a partition at a time. A batch with open ranges reads the other partitions at the same time, because their rows
    * must not wait for holes.
    */
  private def inTurn[T](task: TaskRanges)(
      reader: (IndexedSeq[KafkaSplitRange], ReaderSettings) => SplitReader[T]
  ): SplitReader[T] = {
    val ranges            = task.ranges.map(_.asInstanceOf[KafkaSplitRange])
    val (alone, ordered)  = if (settings.waits) KafkaReaders.independent(ranges) else (IndexedSeq.empty, ranges)
    val (filling, others) = ordered.partition(_.holes.nonEmpty)
    lazy val fills        = settings.copy(client = settings.client.committedOnly)
    val parts             = KafkaReaders.withoutRepeats(filling).map(_ -> fills) ++
      KafkaReaders.withoutRepeats(others).map(_ -> settings)
    def inOrder(): SplitReader[T] = parts match {
      case Seq((part, of)) => reader(part, of)
      case several         => new ReaderSequence(several.map { case (part, of) => part -> (() => reader(part, of)) })
    }
    if (alone.isEmpty) inOrder()
    else if (ordered.isEmpty) reader(alone, settings)
    else {
      val both = Seq(ordered -> (() => inOrder()), alone -> (() => reader(alone, settings)))
      new ReaderSequence(both, atOnce = both.size, ReaderSequence.OpenTurn)
    }
  }

  private def slot(slot: Option[Int], ranges: IndexedSeq[KafkaSplitRange], settings: ReaderSettings): SlotReader = {
    val key = ReaderKey(run, settings.client, slot)
    // After a failure, the state of the consumer is undefined.
    val retried = Option(TaskContext.get()).exists(_.attemptNumber() > 0)
    val topics  = ranges.iterator.map(_.partition.topic).toSet
    val demand  = ReadDemand(
      ranges.size,
      topics.flatMap(sizes.get).maxOption,
      settings.bufferBytes,
      atOnce,
      PassedBatches.isSupported(settings.client)
    )(settings.client.limited)
    val (client, reused) = SlotConsumers.ofExecutor.borrow(key, ranges, demand, retried)(open(ranges, settings, _))
    new SlotReader(ranges, client, settings, reused, SlotConsumers.ofExecutor.found)(
      if (once) { val _ = Try(client.close()) }
      else SlotConsumers.ofExecutor.giveBack(key, client, settings)
    )
  }

  private def open(ranges: Seq[KafkaSplitRange], settings: ReaderSettings, lease: ReadLease): SlotConsumer =
    try {
      val ids =
        new TopicIdClient(settings.client, settings.pollTimeout, Recheck(settings.retries, settings.retryInterval))
      SlotConsumer(
        settings.client.reader(run, lease.limits) ++ ExecutorRack.property(settings.rackFrom),
        if (settings.waits) new BackgroundRequest(ids) else ids,
        lease
      )
    } catch {
      case e: KafkaException =>
        throw settings.client.rejected(s"a reader of ${ranges.map(_.partition).mkString(", ")}", e)
    }

  override def toString: String = s"KafkaReaders(${columns.fieldNames.mkString(", ")}, ${settings.client})"
}

private[splice] object KafkaReaders {

  /** @param ranges
    *   the ranges of the batch
    * @param sizes
    *   the sizes of the records of their topics
    * @param atOnce
    *   the number of clusters that a task reads at the same time
    * @param waits
    *   true if some ranges of the batch have no end
    * @param isTimed
    *   true if the source of several clusters needs the least and the greatest time of the records
    */
  def apply(
      settings: KafkaSettings,
      columns: StructType,
      context: EnumeratorContext,
      reportKey: String,
      ranges: Seq[SplitRange],
      sizes: RecordSizes,
      atOnce: Int = 1,
      waits: Boolean = false,
      isTimed: Boolean = false
  ): KafkaReaders = {
    val value   = ValuePlan(settings.value, KafkaLog, columns, context.session)
    val clients = if (waits && ranges.exists(hasHoles)) 2 * atOnce else atOnce
    val poll    = settings.pollTimeout.getOrElse(networkTimeout)
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
        settings.policies.removed == TopicRemoved.Fail,
        settings.readBufferBytes,
        settings.subscription match {
          case _: Subscription.Assigned => Map.empty
          case _                        => partitions(ranges)
        },
        waits,
        isTimed || settings.eventTime.nonEmpty
      ),
      value,
      context.mode == ReadMode.Batch,
      sizes.among(ranges.iterator.collect { case range: KafkaSplitRange => range.partition.topic }.toSet),
      clients
    )
  }

  private def hasHoles(range: SplitRange): Boolean = range match {
    case range: KafkaSplitRange => range.holes.nonEmpty
    case _                      => false
  }

  /** Divides ranges into parts that are read one after another, each with one range of a partition. A partition has
    * several ranges if its topic was removed and returned at another position within the batch.
    */
  private[reader] def withoutRepeats(ranges: IndexedSeq[KafkaSplitRange]): Seq[IndexedSeq[KafkaSplitRange]] = {
    val several = repeated(ranges)
    if (several.isEmpty) Seq(ranges).filter(_.nonEmpty)
    else {
      val later = several.flatMap(_.drop(1)).toSet
      ranges.filterNot(later) +: withoutRepeats(ranges.filter(later))
    }
  }

  private def repeated(ranges: IndexedSeq[KafkaSplitRange]): Seq[IndexedSeq[KafkaSplitRange]] =
    ranges.groupBy(_.partition).valuesIterator.filter(_.sizeIs > 1).toSeq

  /** Returns the ranges without holes of partitions with one range, and all other ranges. */
  private def independent(
      ranges: IndexedSeq[KafkaSplitRange]
  ): (IndexedSeq[KafkaSplitRange], IndexedSeq[KafkaSplitRange]) = {
    val several = repeated(ranges).map(_.head.partition).toSet
    ranges.partition(range => range.holes.isEmpty && !several(range.partition))
  }

  // The number of partitions only grows, so the greatest partition determines the number.
  private def partitions(ranges: Seq[SplitRange]): Map[String, Int] =
    ranges.collect { case range: KafkaSplitRange if range.isOpen => range.partition }
      .groupMapReduce(_.topic)(_.partition + 1)(math.max)

  // Spark's Kafka source waits for a record for the same time.
  private def networkTimeout: Duration = {
    val seconds = Option(SparkEnv.get).fold(120L)(_.conf.getTimeAsSeconds("spark.network.timeout", "120s"))
    Duration.ofSeconds(seconds)
  }
}
