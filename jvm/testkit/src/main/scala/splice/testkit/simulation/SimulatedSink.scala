// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import scala.collection.immutable.SortedMap

/** A sink that takes each batch id once, as Spark's file sink and Delta do; ids stand for rows. */
final class SimulatedSink(life: Life, same: SameRows) {

  private var batches: SortedMap[Long, Seq[Long]] = SortedMap.empty

  /** All rows so far. */
  def rows: Iterator[Long] = batches.valuesIterator.flatten

  /** The rows of the batches up to one. */
  def rowsUpTo(batch: Long): Iterator[Long] = batches.rangeTo(batch).valuesIterator.flatten

  /** The rows of the batches after one. */
  def rowsAfter(batch: Long): Iterator[Long] = batches.rangeFrom(batch + 1).valuesIterator.flatten

  def size: Int = batches.valuesIterator.map(_.size).sum

  /** Takes the rows of a batch; a batch that is there already must bring the rows that it brought first. */
  def write(batch: Long, rows: Seq[Long]): Unit = {
    life.reach(CrashPoint.BeforeSinkCommit)
    batches.get(batch) match {
      case Some(before) =>
        if (!same(before, rows))
          throw new Violation(
            s"batch $batch wrote ${before.sorted.mkString(",")} and replays ${rows.sorted.mkString(",")}"
          )
      case None => batches += batch -> rows
    }
    life.step(s"sink takes batch $batch: ${rows.sorted.mkString(",")}")
    life.reach(CrashPoint.AfterSinkCommit)
  }

  /** Forgets what came after a batch: under asynchronous progress tracking a replay writes it again, as one batch. */
  def forgetAfter(batch: Long): Unit = batches = batches.rangeTo(batch)
}

/** Whether two readings of one thing agree. */
trait SameRows {
  def apply(first: Seq[Long], again: Seq[Long]): Boolean
}

object SameRows {

  /** They must bring the same rows, in any order. */
  val exactly: SameRows = _.sorted == _.sorted
}

/** Something that must hold does not. */
final class Violation(text: String) extends RuntimeException(text)
