// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Duration

/** How much one batch may read: everything that is available, or an amount. */
sealed trait Limits extends Product with Serializable {

  /** The most rows of a batch; None = no limit. */
  def rows: Option[Long]

  /** The most bytes of a batch; None = no limit. */
  def bytes: Option[Long]

  /** The most files of a batch; None = no limit. */
  def files: Option[Int]

  /** A batch starts only when at least this many rows are available; None = no minimum. */
  def minRows: Option[Long]

  /** The end of a batch of a source whose position is one number of rows: `from` itself while fewer than [[minRows]] are available.
    *
    * @param from
    *   the rows read before the batch
    * @param available
    *   the rows that exist
    */
  final def cap(from: Long, available: Long): Long = {
    val most = rows.fold(available)(max => if (available - from > max) from + max else available)
    if (most <= from || minRows.exists(available - from < _)) from else most
  }
}

object Limits {

  /** Spark's default of `maxTriggerDelay`. */
  val DefaultMaxDelay: Duration = Duration.ofMinutes(15)

  /** Everything that is available, whatever limits the source has itself. A hybrid passes it on to each leg that the batch reaches. */
  case object Everything extends Limits {
    override def rows: Option[Long]    = None
    override def bytes: Option[Long]   = None
    override def files: Option[Int]    = None
    override def minRows: Option[Long] = None
  }

  /** Limits that hold together. A batch always gets at least one row or file.
    *
    * @param maxDelay
    *   the coordinator drops `minRows` when this time has passed since the last batch
    */
  final case class Limited(
      override val rows: Option[Long] = None,
      override val bytes: Option[Long] = None,
      override val files: Option[Int] = None,
      override val minRows: Option[Long] = None,
      maxDelay: Duration = DefaultMaxDelay
  ) extends Limits {
    def withoutMinimum: Limited = copy(minRows = None)
  }

  /** The limits of a source whose options set none. */
  val NotSet: Limited = Limited()
}
