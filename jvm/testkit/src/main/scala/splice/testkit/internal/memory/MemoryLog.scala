// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import scala.collection.concurrent.TrieMap

import splice.source.LogPartition
import splice.source.runtime.Report

/** One record. An archive's tells which record of which log it was before. */
final private[splice] case class MemoryRecord(id: Long, millis: Long, origin: LogPartition, originOffset: Long) {

  /** Its key; a record with a negative id has none. */
  def key: Option[String] = Option.when(id >= 0)(s"key-$id")
}

/** A log in memory, driven by a test: partitions that grow, lose their oldest records, and appear. Any thread.
  *
  * A test makes it, names it in the options of a `memory` source, and reads back how often that source was asked for what.
  */
final private[splice] class MemoryLog(val name: String) {

  private var partitions: Vector[Vector[MemoryRecord]] = Vector.empty
  private var firsts: Vector[Long]                     = Vector.empty
  private val counts                                   = TrieMap.empty[String, Int]

  private val failures = TrieMap.empty[Long, Unit]

  private val refused                  = TrieMap.empty[String, Unit]
  private var received: Vector[Report] = Vector.empty

  MemoryLog.register(this)

  /** Adds empty partitions. */
  def addPartitions(count: Int): MemoryLog = synchronized {
    partitions ++= Vector.fill(count)(Vector.empty)
    firsts ++= Vector.fill(count)(0L)
    this
  }

  /** Appends a record to a partition; its offset. */
  def append(partition: Int, id: Long, millis: Long = 0): Long = synchronized {
    val offset = end(partition)
    add(partition, MemoryRecord(id, millis, LogPartition(name, partition), offset))
    offset
  }

  /** Appends another log's record, as an archiver would. */
  def archive(partition: Int, record: MemoryRecord): Unit = synchronized(add(partition, record))

  /** Takes away a partition's records before an offset, as retention does. */
  def forget(partition: Int, before: Long): Unit = synchronized {
    partitions = partitions.updated(partition, read(partition, before, end(partition)).toVector)
    firsts = firsts.updated(partition, math.max(before, firsts(partition)))
  }

  def size: Int = synchronized(partitions.size)

  def earliest(partition: Int): Long = synchronized(firsts(partition))

  def end(partition: Int): Long = synchronized(firsts(partition) + partitions(partition).size)

  /** The records that are still there, from an offset (included) until another (excluded). */
  def read(partition: Int, from: Long, until: Long): Seq[MemoryRecord] = synchronized {
    val first = firsts(partition)
    partitions(partition).slice((from - first).toInt, (until - first).toInt)
  }

  /** The first offset with a record at or after a time, else the end. */
  def offsetAt(partition: Int, millis: Long): Long = synchronized {
    val index = partitions(partition).indexWhere(_.millis >= millis)
    if (index < 0) end(partition) else firsts(partition) + index
  }

  /** How often a source of this log was asked for something, such as `start`, `offsets` or `enumerator`. */
  def asked(what: String): Int = counts.getOrElse(what, 0)

  /** Makes the next task that reads the record `id` fail there, once. */
  def failOnce(id: Long): Unit = failures(id) = ()

  /** Makes each source of this log fail that is asked for something, such as `close`. */
  def failWhenAsked(what: String): Unit = refused(what) = ()

  /** The reports of readers that enumerators of this log received, oldest first. */
  def reported: Seq[Report] = synchronized(received)

  private[memory] def report(reports: Seq[Report]): Unit = synchronized { received ++= reports }

  /** As if its server or folder were gone: who names it fails. */
  def remove(): Unit = MemoryLog.remove(name)

  private[memory] def ask(what: String): Unit = {
    val _ = counts.updateWith(what)(n => Some(n.getOrElse(0) + 1))
    if (refused.contains(what)) throw new IllegalStateException(s"$name fails when it is asked for $what")
  }

  private[memory] def failIfAsked(id: Long): Unit =
    if (failures.remove(id).isDefined) {
      ask("failed")
      throw new IllegalStateException(s"the task that reads record $id of $name fails")
    }

  private def add(partition: Int, record: MemoryRecord): Unit =
    partitions = partitions.updated(partition, partitions(partition) :+ record)
}

private[splice] object MemoryLog {

  private val logs = TrieMap.empty[String, MemoryLog]

  /** The log that options name.
    *
    * @throws splice.source.errors.SpliceException
    *   when there is none
    */
  def apply(name: String): MemoryLog = logs.getOrElse(name, throw MemoryErrors.gone(name))

  private def register(log: MemoryLog): Unit = logs(log.name) = log

  private def remove(name: String): Unit = logs -= name
}
