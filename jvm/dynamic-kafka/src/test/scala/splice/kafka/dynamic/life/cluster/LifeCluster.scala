// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.source.LogPartition
import splice.testkit.simulation.Simulation

/** Record of a simulated topic.
  *
  * @param id
  *   id, unique in a scenario
  */
final private[life] case class LifeRow(id: Long, topic: LifeTopic, partition: Int, offset: Long, millis: Long) {

  /** True if the record was removed from the log, for example with its topic. */
  @volatile var isRemoved: Boolean = false

  override def toString: String = s"${topic.cluster}/${topic.name}-$partition:$offset"
}

/** Incarnation of a topic. */
final private[life] class LifeTopic(val cluster: String, val name: String, val id: String) {
  val partitions: mutable.ArrayBuffer[mutable.ArrayBuffer[LifeRow]] = mutable.ArrayBuffer.empty

  def rows: Iterator[LifeRow] = partitions.iterator.flatten

  override def toString: String = s"$cluster/$name"
}

/** All records of a scenario. */
final private[life] class LifeRows {
  private val all = mutable.ArrayBuffer.empty[LifeRow]

  def add(topic: LifeTopic, partition: Int, offset: Long, millis: Long): LifeRow = {
    val row = LifeRow(all.size.toLong, topic, partition, offset, millis)
    all += row
    row
  }

  def apply(id: Long): LifeRow = all(id.toInt)

  def iterator: Iterator[LifeRow] = all.iterator
}

/** Kafka cluster in memory, for the query thread and the threads of clients. */
final private[dynamic] class LifeCluster(
    val id: String,
    rows: LifeRows = new LifeRows,
    now: () => Long = () => 0L
) {

  private var topics  = SortedMap.empty[String, LifeTopic]
  private var past    = Map.empty[String, LifeTopic]
  private var clients = 0
  private var opened  = 0

  val faults = new LifeFaults(now)

  def names: Seq[String] = synchronized(topics.keys.toSeq)

  def topic(name: String): Option[LifeTopic] = synchronized(topics.get(name))

  /** Incarnation with this id. */
  def byId(id: String): Option[LifeTopic] = synchronized(past.get(id))

  def create(name: String, partitions: Int): LifeTopic = synchronized {
    topics.getOrElse(
      name, {
        val topic = new LifeTopic(id, name, s"$id-$name-${past.size}")
        (0 until partitions).foreach(_ => topic.partitions += mutable.ArrayBuffer.empty)
        topics += name   -> topic
        past += topic.id -> topic
        topic
      }
    )
  }

  def grow(name: String): Unit = synchronized(topics.get(name).foreach(_.partitions += mutable.ArrayBuffer.empty))

  def delete(name: String): Unit = synchronized {
    topics.get(name).foreach(_.rows.foreach(_.isRemoved = true))
    topics -= name
  }

  def write(name: String, partition: Int, count: Int, millis: Long): Seq[LifeRow] = synchronized {
    topics.get(name).toSeq.flatMap { topic =>
      val log  = topic.partitions(partition)
      val more = (0 until count).map(i => rows.add(topic, partition, log.size.toLong + i, millis))
      log ++= more
      more
    }
  }

  /** Removes the records from an offset on, like an unclean leader election. */
  def truncate(name: String, partition: Int, end: Long): Unit = synchronized {
    topics.get(name).foreach { topic =>
      val log = topic.partitions(partition)
      log.drop(end.toInt).foreach(_.isRemoved = true)
      log.takeInPlace(end.toInt)
    }
  }

  def partitions(of: String => Boolean): Seq[LogPartition] = synchronized {
    for { (name, topic) <- topics.toSeq if of(name); p <- topic.partitions.indices } yield LogPartition(name, p)
  }

  def log(p: LogPartition): Option[collection.IndexedSeq[LifeRow]] =
    synchronized(topics.get(p.topic).flatMap(_.partitions.lift(p.partition)))

  /** Registers an opened client. */
  def open(): Unit = synchronized {
    clients += 1
    opened += 1
  }

  def close(): Unit = synchronized {
    clients -= 1
    notifyAll()
  }

  /** Waits until all clients are closed. Returns false after a timeout. */
  def awaitClosed(): Boolean = synchronized {
    val limit = System.nanoTime() + Simulation.Patience.toNanos
    while (clients > 0 && System.nanoTime() < limit) wait(1000)
    clients == 0
  }

  /** Number of opened clients so far. */
  def everOpened: Int = synchronized(opened)
}
