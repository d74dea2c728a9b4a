// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.util.concurrent.TimeUnit

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.unsafe.types.UTF8String

import splice.files.internal.options.FileOptions
import splice.source.options.SourceOptions.fold

/** Bounds of modification times, in microseconds since the epoch. Both bounds are excluded. */
final private[files] case class ModificationTimes(after: Option[Long], before: Option[Long]) {

  def contain(file: FileStatus): Boolean = {
    val time = TimeUnit.MILLISECONDS.toMicros(file.getModificationTime)
    after.forall(_ < time) && before.forall(time < _)
  }
}

private[files] object ModificationTimes {

  /** Returns the bounds in the options, and the remaining options. Spark's own filter adds the offset of the time zone
    * to the modification time of a file. A text that is not a time is a remaining option, because Spark has the error.
    */
  def of(options: Map[String, String]): (ModificationTimes, Map[String, String]) = {
    def named(key: String) = options.find { case (name, _) => fold(name) == fold(key) }
    lazy val zone          = DateTimeUtils.getZoneId(
      named(DateTimeUtils.TIMEZONE_OPTION).fold(SQLConf.get.sessionLocalTimeZone) { case (_, value) => value }
    )
    def bound(key: String) = named(key).flatMap { case (name, text) =>
      DateTimeUtils.stringToTimestamp(UTF8String.fromString(text), zone).map(name -> _)
    }
    val (after, before) = (bound(FileOptions.ModifiedAfter.key), bound(FileOptions.ModifiedBefore.key))
    (ModificationTimes(after.map(_._2), before.map(_._2)), options -- (after ++ before).map(_._1))
  }
}
