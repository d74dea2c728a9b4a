// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.testkit.simulation.Life

/** A Kafka-like log: topics with partitions that grow, lose their oldest records, and take transactions. It knows every row it ever held.
  *
  * @param ids
  *   where the ids of rows come from
  */
final private[splice] class SimulatedCluster(val id: String, life: Life, ids: RowIds) {

  private var named: SortedMap[String, SimulatedTopic] = SortedMap.empty
  private var past: Vector[SimulatedTopic]             = Vector.empty
  private val open                                     = mutable.Map.empty[Int, Seq[(String, Int)]]
  private val aborted                                  = mutable.Set.empty[Int]
  private var transactions                             = 0
  private var topicsMade                               = 0
  private val gone                                     = mutable.Set.empty[Long]
  private val void                                     = mutable.Set.empty[Long]

  def topics: SortedMap[String, SimulatedTopic] = named

  /** Topics that were deleted since. */
  def deleted: Seq[SimulatedTopic] = past

  def topic(name: String): SimulatedTopic = named(name)

  /** Rows that retention or a deletion took away, with those of aborted transactions. */
  def removed: collection.Set[Long] = gone

  /** Rows that no reader of committed records may ever see: of aborted transactions, and of open ones. */
  def uncommitted: collection.Set[Long] = void

  def isOpen(transaction: Int): Boolean = open.contains(transaction)

  def isAborted(transaction: Int): Boolean = aborted(transaction)

  /** Makes a topic, or makes it anew with another id. */
  def create(name: String, partitions: Int): SimulatedTopic = {
    named.get(name).foreach { topic =>
      past :+= topic
      topic.partitions.foreach(p => remove(p.all.toSeq))
    }
    topicsMade += 1
    val topic = new SimulatedTopic(name, s"$id-topic-$topicsMade", this)
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

  /** Ends a transaction: its markers take an offset each. */
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

  /** Takes the oldest records of a partition away. */
  def trim(name: String, partition: Int, before: Long): Unit = {
    remove(topic(name).partitions(partition).trim(before))
    life.note(s"$id: $name-$partition begins at ${topic(name).partitions(partition).earliest}")
  }

  private def remove(records: Seq[SimulatedRecord]): Unit = gone ++= records.flatMap(_.id)
}

/** Gives every row of one history a number of its own. */
final private[splice] class RowIds {

  private var count = 0L

  def next(): Long = {
    count += 1
    count
  }

  /** The last one that was given out. */
  def last: Long = count

  /** All that were given out. */
  def all: Iterator[Long] = (1L to count).iterator
}
