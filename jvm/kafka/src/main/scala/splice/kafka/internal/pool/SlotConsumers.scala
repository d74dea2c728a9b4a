// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.kafka.common.TopicPartition
import org.slf4j.LoggerFactory

import splice.kafka.internal.consumer.{ReadBudget, ReadDemand, ReadLease, SlotConsumer}
import splice.kafka.internal.options.KafkaOptions
import splice.kafka.internal.split.{KafkaSplitRange, TopicPartitions}

/** Lends the consumers of one JVM to tasks, and opens new consumers within a budget. Thread-safe. */
final private[splice] class SlotConsumers(pool: ReaderPool[ReaderKey, SlotConsumer], budget: ReadBudget) {

  import SlotConsumers._

  /** The changes that readers of this JVM have found. */
  val found = new FoundChanges

  // The runs for which a warning was logged.
  private val lowered  = new mutable.LinkedHashSet[String]
  private val exceeded = new mutable.LinkedHashSet[String]

  /** Returns a consumer that no other task uses. The choice is the slot's consumer, else another consumer of the query,
    * else a new consumer.
    *
    * A consumer of another slot is used in two cases. In the first case, this consumer has all partitions of the task,
    * as for pieces of one partition. In the second case, no further consumer can be opened.
    *
    * @param isRetry
    *   true if the task has failed before, so that the state of open consumers is undefined
    * @param create
    *   opens a consumer within the limits of a lease
    * @return
    *   the consumer, and true if the consumer was open
    */
  def borrow(key: ReaderKey, ranges: Seq[KafkaSplitRange], demand: ReadDemand, isRetry: Boolean)(
      create: ReadLease => SlotConsumer
  ): (SlotConsumer, Boolean) = {
    val topics     = KafkaSplitRange.topicIds(ranges)
    val partitions = ranges.map(range => TopicPartitions.of(range.partition))
    val borrowed   = if (isRetry) None else pool.borrow(key)(_.fits(ranges))
    val needed     = demand.of(borrowed.fold(partitions.size)(_.assignedWith(partitions)))
    val usable     = borrowed.filter(consumer => consumer.allows(topics) && budget.serves(consumer.lease, needed))
    if (usable.isEmpty) borrowed.foreach(_.close())
    usable
      .orElse(if (isRetry) None else other(key, topics, partitions, demand))
      .map(_ -> true)
      .getOrElse(open(key, needed, create) -> false)
  }

  private def other(
      key: ReaderKey,
      topics: Map[String, String],
      partitions: Seq[TopicPartition],
      demand: ReadDemand
  ): Option[SlotConsumer] = {
    def serves(consumer: SlotConsumer) = consumer.allows(topics) && budget.serves(consumer.lease, demand)
    pool.borrowOldest(_.isAlike(key))(consumer => consumer.hasAssigned(partitions) && serves(consumer)).orElse {
      // If consumers of other queries have been idle for longer, these consumers are closed first.
      val isOwnNext = pool.oldest.exists(_.isAlike(key))
      if (isOwnNext && !budget.hasRoom(demand)) pool.borrowOldest(_.isAlike(key))(serves) else None
    }
  }

  private def open(key: ReaderKey, demand: ReadDemand, create: ReadLease => SlotConsumer): SlotConsumer = {
    val lease = budget.lease(demand)(() => pool.evictOldest())
    warn(key, lease)
    try create(lease)
    catch {
      case e: Throwable =>
        lease.release()
        throw e
    }
  }

  /** Returns a consumer to the pool. If all consumers together may exceed the budget, the consumers that have been idle
    * for the longest time are closed.
    */
  def giveBack(key: ReaderKey, consumer: SlotConsumer, settings: ReaderSettings): Unit = {
    pool.giveBack(key, consumer, settings.idleTimeout)
    trim()
  }

  @tailrec private def trim(): Unit = if (budget.isExceeded && pool.evictOldest()) trim()

  private def warn(key: ReaderKey, lease: ReadLease): Unit = {
    val (total, held) = (budget.total, budget.held)
    val above         = key.client.above(lease.limits)
    if (above.nonEmpty && isFirst(lowered, key.run)) {
      val list = above.map { case (name, set, most) => s"'${KafkaOptions.ClientPrefix}$name' from $set to $most" }
      logger.warn(
        s"Splice lowers ${list.mkString(", ")}: all Kafka readers of this JVM hold at most $total bytes " +
          s"('${KafkaOptions.ReadBufferBytes.key}'). To use larger values, raise '${KafkaOptions.ReadBufferBytes.key}'."
      )
    }
    if (held > total && isFirst(exceeded, key.run))
      logger.warn(
        s"Kafka readers of this JVM may hold $held bytes, more than the $total bytes of '${KafkaOptions.ReadBufferBytes.key}': " +
          s"${budget.size} consumers are open, one consumer with up to ${lease.limits.partitions} partitions. " +
          s"Raise '${KafkaOptions.ReadBufferBytes.key}', or run fewer tasks at the same time in one JVM."
      )
  }

  private def isFirst(warned: mutable.LinkedHashSet[String], run: String): Boolean = warned.synchronized {
    if (warned.size >= Remembered) warned.headOption.foreach(warned.remove)
    warned.add(run)
  }
}

private[splice] object SlotConsumers {

  private val logger = LoggerFactory.getLogger(classOf[SlotConsumers])

  private val Remembered = 1000

  /** The consumers of this executor. */
  lazy val ofExecutor: SlotConsumers = new SlotConsumers(ReaderPool.ofExecutor, ReadBudget.ofExecutor)
}
