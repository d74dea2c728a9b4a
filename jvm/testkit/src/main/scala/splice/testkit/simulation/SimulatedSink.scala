// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import scala.collection.immutable.SortedMap

/** Sink that accepts each batch id once, like Spark's file sink and Delta. Row ids represent rows. */
final class SimulatedSink(life: Life, same: SameRows) {

  private var batches: SortedMap[Long, Seq[Long]] = SortedMap.empty

  /** All rows in the sink. */
  def rows: Iterator[Long] = batches.valuesIterator.flatten

  /** Rows of the batches up to `batch`. */
  def rowsUpTo(batch: Long): Iterator[Long] = batches.rangeTo(batch).valuesIterator.flatten

  /** Rows of the batches after `batch`. */
  def rowsAfter(batch: Long): Iterator[Long] = batches.rangeFrom(batch + 1).valuesIterator.flatten

  def size: Int = batches.valuesIterator.map(_.size).sum

  /** Writes the rows of a batch. A repeated batch must have the same rows as the first write. */
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

  /** Removes the rows after a batch. Under asynchronous progress tracking, a replay writes these rows again as one
    * batch.
    */
  def forgetAfter(batch: Long): Unit = batches = batches.rangeTo(batch)
}

/** Comparison of two reads of the same data. */
trait SameRows {
  def apply(first: Seq[Long], again: Seq[Long]): Boolean
}

object SameRows {

  /** Both reads must have the same rows, in any order. */
  val exactly: SameRows = _.sorted == _.sorted
}

/** Violation of a guarantee. */
final class Violation(text: String) extends RuntimeException(text)
