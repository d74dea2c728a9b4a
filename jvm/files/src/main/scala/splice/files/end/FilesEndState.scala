// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import java.time.Instant

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.util.DateTimeUtils

import splice.files.FileFormats
import splice.files.enumerator.{FileList, FileStorage, FilesPosition}
import splice.source.{EndState, OffsetColumns, OffsetSummary, TimeRange}

/** What the listed files hold. Event times and offsets come from a Spark job over the columns in question.
  *
  * A date counts as its midnight, and a timestamp without time zone as that time of day, in the session's time zone.
  */
final private[files] class FilesEndState(
    paths: Seq[String],
    storage: FileStorage,
    override val position: FilesPosition,
    list: => FileList
) extends EndState {

  private lazy val scan = new ListScan(storage.readers(_, list.schemas), list.ranges(FilesPosition.Start, list.end))

  override def eventTimes(column: String): Option[TimeRange] = {
    val found = HandOverColumn(column, "event time", EventTimeScan.Expected, list.schemas, paths)(EventTimeScan.fits)
    if (list.files.isEmpty) None
    else {
      val zone = DateTimeUtils.getZoneId(FileFormats.conf(SparkSession.active).sessionLocalTimeZone)
      new EventTimeScan(found, zone).over(scan)
    }
  }

  override def modificationTimes: Option[TimeRange] = {
    val times = list.files.map(_.modified)
    Option.when(times.nonEmpty)(TimeRange(Instant.ofEpochMilli(times.min), Instant.ofEpochMilli(times.max)))
  }

  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = {
    val found = Seq(
      HandOverColumn(columns.topic, "topic", "a string", list.schemas, paths)(OffsetScan.Text),
      HandOverColumn(columns.partition, "partition", "a whole number", list.schemas, paths)(OffsetScan.Integral),
      HandOverColumn(columns.offset, "offset", "a whole number", list.schemas, paths)(OffsetScan.Integral)
    )
    if (list.files.isEmpty) Nil else new OffsetScan(found, paths).over(scan)
  }
}
