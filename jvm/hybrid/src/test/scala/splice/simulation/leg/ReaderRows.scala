// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow

import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}
import splice.testkit.simulation.TaskRows

/** Ids of the rows of a real reader. */
final class ReaderRows(reader: SplitReader[InternalRow], id: InternalRow => Long) extends TaskRows {

  private var last: Poll = Poll.Pending

  override def next(): Option[Long] = next(Poll.Forever)

  override def nextNow(): Option[Long] = next(Duration.ZERO)

  override def hasEnded: Boolean = last == Poll.Ended

  private def next(patience: Duration): Option[Long] = {
    last = reader.poll(patience)
    if (last == Poll.Found) Some(id(reader.get())) else None
  }

  override def unread: Seq[SplitRange] = reader.unread

  override def reports: Seq[Report] = reader.report(hasEnded)
  override def close(): Unit        = reader.close()
}

/** Reads parts in sequence. Each part is opened after the end of the previous part. */
final class RowsInTurn(parts: Seq[RowsInTurn.Part]) extends TaskRows {

  private var later                     = parts.toList
  private var current: Option[TaskRows] = None
  private var wrap                      = (range: SplitRange) => range
  private var reported                  = Seq.empty[Report]

  override def next(): Option[Long] = next(_.next())

  override def nextNow(): Option[Long] = next(_.nextNow())

  override def hasEnded: Boolean = later.isEmpty && current.forall(_.hasEnded)

  override def unread: Seq[SplitRange] = current.toSeq.flatMap(_.unread).map(wrap) ++
    later.flatMap(part => part.ranges.map(part.wrap))

  @scala.annotation.tailrec
  private def next(row: TaskRows => Option[Long]): Option[Long] = current.flatMap(row) match {
    case found @ Some(_)                                      => found
    case None if later.nonEmpty && current.forall(_.hasEnded) =>
      reported ++= current.toSeq.flatMap(_.reports)
      close()
      wrap = later.head.wrap
      current = Some(later.head.open())
      later = later.tail
      next(row)
    case None => None
  }

  override def reports: Seq[Report] = reported ++ current.toSeq.flatMap(_.reports)

  override def close(): Unit = {
    val open = current
    current = None
    open.foreach(_.close())
  }
}

object RowsInTurn {

  /** @param wrap converts ranges of the part to ranges of the whole task */
  final case class Part(ranges: Seq[SplitRange], open: () => TaskRows, wrap: SplitRange => SplitRange = identity)
}
