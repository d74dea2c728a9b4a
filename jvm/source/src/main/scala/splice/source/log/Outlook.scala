// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.source.{LogPartition, TimeRange}

/** What a source knows of its rows before it reads them. A plan shows it, and a hybrid checks its later legs with it.
  *
  * Each value may be determined at its first use, on the query's thread, as long as the enumerator is open.
  */
trait Outlook {

  /** The number of files. */
  def files: Option[Long] = None

  /** The bytes of all files. */
  def bytes: Option[Long] = None

  /** The number of rows, if it is known without reading them, for example from the footers of files. */
  def rows: Option[Long] = None

  /** Least and greatest modification time of the files. */
  def modified: Option[TimeRange] = None

  /** The greatest value of columns with points in time, by the name of the column, as far as it is known without reading rows. */
  def latest: Map[String, Instant] = Map.empty

  /** What the log has of each partition that the source reads. */
  def logs: SortedMap[LogPartition, LogOutlook] = SortedMap.empty

  /** What a user should know before the query starts, in whole sentences. */
  def warnings: Seq[String] = Nil
}

object Outlook {

  /** Nothing is known. */
  case object Unknown extends Outlook
}

/** What a log has of one partition.
  *
  * @param first
  *   the time of the first record; None if there is no record, or it has no time
  */
final case class LogOutlook(range: LogRange, first: Option[Instant])
