// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import org.apache.spark.sql.catalyst.InternalRow

import splice.source.{Poll, Report, SplitReader}
import splice.testkit.simulation.TaskRows

/** The ids of the rows of a real reader. */
final class ReaderRows(reader: SplitReader[InternalRow], id: InternalRow => Long) extends TaskRows {
  override def next(): Option[Long] = if (reader.poll(Poll.Forever) == Poll.Found) Some(id(reader.get())) else None
  override def reports: Seq[Report] = reader.report(ended = true)
  override def close(): Unit        = reader.close()
}

/** Reads one thing after another; each is opened when the one before has ended. */
final class RowsInTurn(parts: Iterator[() => TaskRows]) extends TaskRows {

  private var current: Option[TaskRows] = None
  private var reported                  = Seq.empty[Report]

  @scala.annotation.tailrec
  override def next(): Option[Long] = current.flatMap(_.next()) match {
    case found @ Some(_)       => found
    case None if parts.hasNext =>
      reported ++= current.toSeq.flatMap(_.reports)
      close()
      current = Some(parts.next()())
      next()
    case None => None
  }

  override def reports: Seq[Report] = reported ++ current.toSeq.flatMap(_.reports)

  override def close(): Unit = {
    val open = current
    current = None
    open.foreach(_.close())
  }
}
