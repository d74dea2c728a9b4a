// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import java.time.Instant

import splice.hybrid.LogColumns
import splice.source.log.LogRecord

/** Compared values of the row with the greatest offset of a log partition.
  *
  * @param time
  *   timestamp of the record; None if the leg has no timestamp column
  * @param key
  *   key of the record; None if the leg has no key column
  */
final private[splice] case class LastRecord(offset: Long, time: Option[RecordTime], key: Option[RecordKey]) {

  /** Restriction of the record to the given columns; None if no value remains. */
  def of(columns: Option[LogColumns.Named]): Option[LastRecord] = {
    val kept = copy(
      time = time.filter(_ => columns.exists(_.timestamp.nonEmpty)),
      key = key.filter(_ => columns.exists(_.key.nonEmpty))
    )
    Option.when(kept.isKnown)(kept)
  }

  /** True if the record has a value to compare. */
  def isKnown: Boolean = time.nonEmpty || key.nonEmpty

  /** Description of the difference to the record of the log at this offset; None if the values of the history are
    * equal.
    */
  def difference(record: LogRecord): Option[String] = {
    val other = RecordKey.of(record)
    val same  = time.forall(_.has(record.millis)) && key.forall(_ == other)
    Option.unless(same) {
      val ofHistory = time.map(t => s"timestamp $t") ++ key.map(k => s"key $k")
      val ofLog     = time.map(_ => s"timestamp ${Instant.ofEpochMilli(record.millis)}") ++ key.map(_ => s"key $other")
      s"${ofHistory.mkString(", ")} in the history, and ${ofLog.mkString(", ")} in the log"
    }
  }
}

/** Timestamp of a record at the precision of a history: a range of milliseconds from `from` (included) to `until`
  * (excluded).
  */
final private[splice] case class RecordTime(from: Long, until: Long) {

  def has(millis: Long): Boolean = from <= millis && millis < until

  override def toString: String = {
    val first = Instant.ofEpochMilli(from)
    if (until == from + 1) first.toString else s"$first to ${Instant.ofEpochMilli(until - 1)}"
  }
}
