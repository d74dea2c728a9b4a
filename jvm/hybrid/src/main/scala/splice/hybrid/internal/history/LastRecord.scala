// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import java.time.Instant

import splice.hybrid.LogColumns
import splice.source.log.LogRecord

/** The row with the greatest offset of one log partition, as far as it is compared with the log.
  *
  * @param time
  *   the timestamp of the record; None if the leg does not have it
  * @param key
  *   the key of the record; None if the leg does not have it
  */
final private[splice] case class LastRecord(offset: Long, time: Option[RecordTime], key: Option[RecordKey]) {

  /** What of it these columns have; None if that is nothing. */
  def of(columns: Option[LogColumns.Named]): Option[LastRecord] = {
    val kept = copy(
      time = time.filter(_ => columns.exists(_.timestamp.nonEmpty)),
      key = key.filter(_ => columns.exists(_.key.nonEmpty))
    )
    Option.when(kept.isKnown)(kept)
  }

  /** Whether there is something to compare. */
  def isKnown: Boolean = time.nonEmpty || key.nonEmpty

  /** How the record of the log at this offset differs; None if it is the same record, by the values that the history has. */
  def difference(found: LogRecord): Option[String] = {
    val other = RecordKey.of(found)
    val same  = time.forall(_.has(found.millis)) && key.forall(_ == other)
    Option.unless(same) {
      val own    = time.map(t => s"timestamp $t") ++ key.map(k => s"key $k")
      val theirs = time.map(_ => s"timestamp ${Instant.ofEpochMilli(found.millis)}") ++ key.map(_ => s"key $other")
      s"${own.mkString(", ")} in the history, and ${theirs.mkString(", ")} in the log"
    }
  }
}

/** The timestamp of a record at the precision of a history: a time in milliseconds from `from` (included) until `until` (excluded). */
final private[splice] case class RecordTime(from: Long, until: Long) {

  def has(millis: Long): Boolean = from <= millis && millis < until

  override def toString: String = {
    val first = Instant.ofEpochMilli(from)
    if (until == from + 1) first.toString else s"$first to ${Instant.ofEpochMilli(until - 1)}"
  }
}
