// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables

import java.time.Clock

import scala.annotation.tailrec
import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source._
import splice.source.runtime.SideLog

/** Reads a source of a table in the tasks of a session, without a Spark query. */
final class TableRead(source: Source[_ <: Position], log: SideLog = new MemorySideLog) {

  private val run =
    new Coordinator(source, EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "test"), 2, 100)

  /** All positions from the start to the end. */
  lazy val positions: Seq[Position] = {
    @tailrec def from(done: Vector[Position]): Seq[Position] = {
      val next = run.advance(done.last, everything = false)
      if (next == done.last) done else from(done :+ next)
    }
    from(Vector(run.initial()))
  }

  def evidence: Evidence = run.evidence(positions.last).get

  /** Rows of each batch as texts. */
  def batches(columns: StructType = source.schema): Seq[Seq[String]] =
    positions.zip(positions.drop(1)).map { case (from, until) => rows(from, until, columns) }

  /** True if each batch can be read as column batches. */
  def isColumnar: Boolean = positions.zip(positions.drop(1)).forall { case (from, until) =>
    run.readers(source.schema, run.tasks(from, until)).columnar
  }

  def rows(from: Position, until: Position, columns: StructType = source.schema): Seq[String] = {
    val tasks   = run.tasks(from, until)
    val readers = run.readers(columns, tasks)
    SparkSession.active.sparkContext
      .parallelize(tasks, tasks.size.max(1))
      .flatMap(task => TableRead.texts(readers, task, columns))
      .collect()
      .toSeq
      .sorted
  }
}

private object TableRead {
  def texts(readers: SplitReaderFactory, task: TaskRanges, columns: StructType): Seq[String] =
    if (readers.columnar)
      Using.resource(readers.batches(task)) { reader =>
        SplitReader.items(reader).flatMap(batch => (0 until batch.numRows).map(i => batch.getRow(i).copy())).toVector
          .map(_.toSeq(columns).mkString("|"))
      }
    else Using.resource(readers.rows(task))(SplitReader.items(_).map(_.toSeq(columns).mkString("|")).toVector)
}
