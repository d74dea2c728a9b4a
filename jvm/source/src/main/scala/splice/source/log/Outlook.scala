// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.source.{LogPartition, TimeRange}

/** Figures about the rows of a source before tasks read the rows. A plan shows these figures, and a hybrid uses them to
  * check its later legs.
  *
  * A value may be computed at its first use, on the query's thread, while the enumerator is open.
  */
trait Outlook {

  /** Number of files. */
  def files: Option[Long] = None

  /** Total size of all files in bytes. */
  def bytes: Option[Long] = None

  /** Number of rows, for example from the footers of files, or None if Splice would have to read the rows to determine
    * the number.
    */
  def rows: Option[Long] = None

  /** Least and greatest modification time of the files. */
  def modified: Option[TimeRange] = None

  /** Greatest value per column of timestamps, by column name. A column is absent if Splice would have to read the rows
    * to determine its value.
    */
  def latest: Map[String, Instant] = Map.empty

  /** Range and first timestamp of each log partition that the source reads. */
  def logs: SortedMap[LogPartition, LogOutlook] = SortedMap.empty

  /** Warnings to the user before the query starts, in complete sentences. */
  def warnings: Seq[String] = Nil
}

object Outlook {

  /** Outlook without figures. */
  case object Unknown extends Outlook
}

/** Range and first timestamp of one log partition.
  *
  * @param first
  *   timestamp of the first record, or None if the partition has no record or the record has no timestamp
  */
final case class LogOutlook(range: LogRange, first: Option[Instant])
