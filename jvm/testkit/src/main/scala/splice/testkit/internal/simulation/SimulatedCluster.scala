// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.testkit.simulation.Life

/** Kafka-like log. Topics have partitions that grow, lose their oldest records and accept transactions. The cluster
  * records every row that it ever stored.
  *
  * @param ids
  *   generator of row ids
  */
final private[splice] class SimulatedCluster(val id: String, life: Life, ids: RowIds) {

  private var named: SortedMap[String, SimulatedTopic] = SortedMap.empty
  private var past: Vector[SimulatedTopic]             = Vector.empty
  private val open                                     = mutable.Map.empty[Int, Seq[(String, Int)]]
  private val aborted                                  = mutable.Set.empty[Int]
  private var transactions                             = 0
  private var topicsCreated                            = 0
  private val dropped                                  = mutable.Set.empty[Long]
  private val void                                     = mutable.Set.empty[Long]

  def topics: SortedMap[String, SimulatedTopic] = named

  /** Deleted topics. */
  def deleted: Seq[SimulatedTopic] = past

  def topic(name: String): SimulatedTopic = named(name)

  /** Rows that retention or a deletion removed, and rows of aborted transactions. */
  def removed: collection.Set[Long] = dropped

  /** Rows of aborted and of open transactions, which no reader of committed records may return. */
  def uncommitted: collection.Set[Long] = void

  def isOpen(transaction: Int): Boolean = open.contains(transaction)

  def isAborted(transaction: Int): Boolean = aborted(transaction)

  /** Creates a topic, or recreates a topic with another id. */
  def create(name: String, partitions: Int): SimulatedTopic = {
    named.get(name).foreach { topic =>
      past :+= topic
      topic.partitions.foreach(p => remove(p.all.toSeq))
    }
    topicsCreated += 1
    val topic = new SimulatedTopic(name, s"$id-topic-$topicsCreated", this)
    topic.grow(partitions)
    named += name -> topic
    life.note(s"$id: topic $name of $partitions partitions")
    topic
  }

  def grow(name: String): Unit = {
    topic(name).grow(1)
    life.note(s"$id: $name has ${topic(name).partitions.size} partitions")
  }

  /** Appends rows to one partition. */
  def produce(name: String, partition: Int, rows: Int): Unit = {
    val log = topic(name).partitions(partition)
    (1 to rows).foreach(_ => log.append(Some(ids.next()), life.clock.millis))
    life.note(s"$id: $rows rows to $name-$partition, end ${log.end}")
  }

  /** Begins a transaction over some partitions and writes its rows. */
  def begin(name: String, partitions: Seq[Int], rows: Int): Unit = {
    transactions += 1
    open += transactions -> partitions.map(name -> _)
    partitions.foreach { p =>
      (1 to rows).foreach { _ =>
        val id = ids.next()
        void += id
        topic(name).partitions(p).append(Some(id), life.clock.millis, transactions)
      }
    }
    life.note(s"$id: transaction $transactions begins on $name ${partitions.mkString(",")}, $rows rows each")
  }

  def openTransactions: Seq[Int] = open.keys.toSeq.sorted

  /** Ends a transaction. Each marker takes one offset. */
  def end(transaction: Int, commit: Boolean): Unit = {
    val partitions = open.remove(transaction).getOrElse(Nil)
    if (!commit) aborted += transaction
    partitions.foreach { case (name, p) =>
      named.get(name).flatMap(_.partitions.lift(p)).foreach { log =>
        if (commit) void --= log.all.filter(_.transaction == transaction).flatMap(_.id)
        val _ = log.append(None, life.clock.millis)
      }
    }
    life.note(s"$id: transaction $transaction ${if (commit) "commits" else "aborts"}")
  }

  /** Removes the oldest records of a partition. */
  def trim(name: String, partition: Int, before: Long): Unit = {
    remove(topic(name).partitions(partition).trim(before))
    life.note(s"$id: $name-$partition begins at ${topic(name).partitions(partition).earliest}")
  }

  private def remove(records: Seq[SimulatedRecord]): Unit = dropped ++= records.flatMap(_.id)
}

/** Generator of unique row ids in one scenario. */
final private[splice] class RowIds {

  private var count = 0L

  def next(): Long = {
    count += 1
    count
  }

  /** Last generated id. */
  def last: Long = count

  /** All generated ids. */
  def all: Iterator[Long] = (1L to count).iterator
}
