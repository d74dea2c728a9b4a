// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.testkit.simulation.Life

/** Row of a file, with the origin of the record. */
final private[splice] case class ArchivedRow(id: Long, topic: String, partition: Int, offset: Long, timestamp: Long)

/** Version of a file. A rewritten file is another version with the same path. */
final private[splice] case class SimulatedFile(path: String, modified: Long, rows: Vector[ArchivedRow]) {
  def length: Long = rows.size * SimulatedFile.RowBytes
}

private[splice] object SimulatedFile {

  /** Size of each row in bytes. */
  val RowBytes = 10L
}

/** Folder whose files are added and rewritten. The folder records every version of its files. */
final private[splice] class SimulatedFolder(val name: String, life: Life) {

  private var now: SortedMap[String, SimulatedFile] = SortedMap.empty
  private val written                               = mutable.ArrayBuffer.empty[SimulatedFile]

  def files: Seq[SimulatedFile] = now.values.toSeq

  def get(path: String): Option[SimulatedFile] = now.get(path)

  /** Version of a file with the given modification time and length. */
  def version(path: String, modified: Long, length: Long): Option[SimulatedFile] =
    written.find(f => f.path == path && f.modified == modified && f.length == length)

  def add(rows: Seq[ArchivedRow]): SimulatedFile = put(f"$name/part-${written.size}%04d", rows)

  /** Rewrites a file with other rows and a later modification time. */
  def rewrite(path: String, rows: Seq[ArchivedRow]): SimulatedFile = put(path, rows)

  def remove(path: String): Unit = {
    now -= path
    life.note(s"$path is deleted")
  }

  private def put(path: String, rows: Seq[ArchivedRow]): SimulatedFile = {
    val file = SimulatedFile(path, life.clock.millis, rows.toVector)
    now += path -> file
    written += file
    life.note(s"$path is written: ${rows.map(_.id).mkString(",")}")
    file
  }
}
