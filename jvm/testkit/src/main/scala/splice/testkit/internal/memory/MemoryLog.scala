// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import scala.collection.concurrent.TrieMap

import splice.source.LogPartition
import splice.source.runtime.Report

/** Record of a log. A record of an archive has the origin of the archived record. */
final private[splice] case class MemoryRecord(id: Long, millis: Long, origin: LogPartition, originOffset: Long) {

  /** Key; None for a record with a negative id. */
  def key: Option[String] = Option.when(id >= 0)(s"key-$id")
}

/** Log in memory, controlled by a test. Partitions can be added, can grow and can lose their oldest records.
  * Thread-safe.
  *
  * A test creates the log, sets its name in the options of a `memory` source, and reads the number of calls per kind.
  */
final private[splice] class MemoryLog(val name: String) {

  private var partitions: Vector[Vector[MemoryRecord]] = Vector.empty
  private var firsts: Vector[Long]                     = Vector.empty
  private val counts                                   = TrieMap.empty[String, Int]

  private val failures = TrieMap.empty[Long, Unit]

  private val failing                  = TrieMap.empty[String, Unit]
  private var received: Vector[Report] = Vector.empty

  MemoryLog.register(this)

  /** Adds empty partitions. */
  def addPartitions(count: Int): MemoryLog = synchronized {
    partitions ++= Vector.fill(count)(Vector.empty)
    firsts ++= Vector.fill(count)(0L)
    this
  }

  /** Appends a record to a partition. Returns the offset. */
  def append(partition: Int, id: Long, millis: Long = 0): Long = synchronized {
    val offset = end(partition)
    add(partition, MemoryRecord(id, millis, LogPartition(name, partition), offset))
    offset
  }

  /** Appends a record of another log, as an archive job does. */
  def archive(partition: Int, record: MemoryRecord): Unit = synchronized(add(partition, record))

  /** Removes the records of a partition before an offset, as retention does. */
  def forget(partition: Int, before: Long): Unit = synchronized {
    partitions = partitions.updated(partition, read(partition, before, end(partition)).toVector)
    firsts = firsts.updated(partition, math.max(before, firsts(partition)))
  }

  def size: Int = synchronized(partitions.size)

  def earliest(partition: Int): Long = synchronized(firsts(partition))

  def end(partition: Int): Long = synchronized(firsts(partition) + partitions(partition).size)

  /** Returns the available records between `from` (included) and `until` (excluded). */
  def read(partition: Int, from: Long, until: Long): Seq[MemoryRecord] = synchronized {
    val first = firsts(partition)
    partitions(partition).slice((from - first).toInt, (until - first).toInt)
  }

  /** First offset with a record at or after a time; the end if no such record exists. */
  def offsetAt(partition: Int, millis: Long): Long = synchronized {
    val index = partitions(partition).indexWhere(_.millis >= millis)
    if (index < 0) end(partition) else firsts(partition) + index
  }

  /** Number of calls of a kind on sources of this log, such as `start`, `offsets` or `enumerator`. */
  def requested(kind: String): Int = counts.getOrElse(kind, 0)

  /** Fails the next task that reads the record `id`, once. */
  def failOnce(id: Long): Unit = failures(id) = ()

  /** Fails calls of a kind on sources of this log, such as `close`. */
  def failOnRequest(kind: String): Unit = failing(kind) = ()

  /** Reader reports that enumerators of this log received, oldest first. */
  def reported: Seq[Report] = synchronized(received)

  private[memory] def report(reports: Seq[Report]): Unit = synchronized { received ++= reports }

  /** Removes the log, as if its server or folder were deleted. Sources with its name then fail. */
  def remove(): Unit = MemoryLog.remove(name)

  private[memory] def call(kind: String): Unit = {
    val _ = counts.updateWith(kind)(n => Some(n.getOrElse(0) + 1))
    if (failing.contains(kind)) throw new IllegalStateException(s"$name fails at the call $kind")
  }

  private[memory] def failIfRequested(id: Long): Unit =
    if (failures.remove(id).isDefined) {
      call("failed")
      throw new IllegalStateException(s"the task that reads record $id of $name fails")
    }

  private def add(partition: Int, record: MemoryRecord): Unit =
    partitions = partitions.updated(partition, partitions(partition) :+ record)
}

private[splice] object MemoryLog {

  private val logs = TrieMap.empty[String, MemoryLog]

  /** Log with the given name.
    *
    * @throws splice.source.errors.SpliceException
    *   if the log does not exist
    */
  def apply(name: String): MemoryLog = logs.getOrElse(name, throw MemoryErrors.missing(name))

  private def register(log: MemoryLog): Unit = logs(log.name) = log

  private def remove(name: String): Unit = logs -= name
}
