// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Duration

/** Limits of one batch: all available rows ([[Limits.Everything]]) or maximum amounts ([[Limits.Limited]]). */
sealed trait Limits extends Product with Serializable {

  /** Maximum number of rows per batch, if limited. */
  def rows: Option[Long]

  /** Maximum number of bytes per batch, if limited. */
  def bytes: Option[Long]

  /** Maximum number of files per batch, if limited. */
  def files: Option[Int]

  /** Minimum number of available rows for a batch to start, if set. */
  def minRows: Option[Long]

  /** Returns the end of a batch of a source whose position is the number of rows that were read. Returns `from` if
    * fewer than [[minRows]] rows are available.
    *
    * @param from
    *   number of rows that were read before the batch
    * @param available
    *   number of rows that exist
    */
  final def cap(from: Long, available: Long): Long = {
    val most = rows.fold(available)(max => if (available - from > max) from + max else available)
    if (most <= from || minRows.exists(available - from < _)) from else most
  }
}

object Limits {

  /** Default of the option `maxTriggerDelay`, as in Spark: 15 minutes. */
  val DefaultMaxDelay: Duration = Duration.ofMinutes(15)

  /** All available rows, regardless of the limits that the options of the source set. In a stream, Splice passes this
    * value for the only batch of a run (Spark's Once), after [[SplitEnumerator.freeze]]. The batch must have the rows of
    * every split, so the source waits for servers that do not respond. A hybrid passes this value to each leg that the
    * batch reaches.
    */
  case object Everything extends Limits {
    override def rows: Option[Long]    = None
    override def bytes: Option[Long]   = None
    override def files: Option[Int]    = None
    override def minRows: Option[Long] = None
  }

  /** Maximum amounts, which all apply together. Each batch has at least one row or file.
    *
    * @param maxDelay
    *   time since the previous batch after which the coordinator ignores `minRows`
    */
  final case class Limited(
      override val rows: Option[Long] = None,
      override val bytes: Option[Long] = None,
      override val files: Option[Int] = None,
      override val minRows: Option[Long] = None,
      maxDelay: Duration = DefaultMaxDelay
  ) extends Limits {

    /** Returns these limits without `minRows`. */
    def withoutMinimum: Limited = copy(minRows = None)
  }

  /** Limits of a source whose options set no limit. */
  val NotSet: Limited = Limited()
}
