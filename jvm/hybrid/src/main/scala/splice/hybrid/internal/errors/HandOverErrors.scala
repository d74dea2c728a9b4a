// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.errors

import java.time.Instant

import splice.hybrid.internal.chain.Leg
import splice.source.LogPartition
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.legs.SkippingLeg

/** Errors of a hand-over without a valid start. Splice stores no decision after such an error, so a restart evaluates
  * the rule again.
  */
private[splice] object HandOverErrors {

  private def conditions = HybridErrors.conditions

  private val Shown = 20

  def noRows(previous: Seq[Leg], leg: String): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.NO_ROWS",
      "previousLeg" -> named(previous.map(_.name)),
      "leg"         -> leg,
      "logColumns"  -> logColumns(previous)
    )

  def noOffsets(previous: String, leg: String, cause: SpliceException): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.NO_OFFSETS",
      cause,
      "previousLeg" -> previous,
      "leg"         -> leg,
      "reason"      -> cause.text
    )

  /** @param role use of the column of `previous` by the rule of `leg` */
  def columnNotFound(
      previous: Leg,
      leg: String,
      column: String,
      role: String,
      columns: Seq[String],
      remedy: String
  ): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.COLUMN_NOT_FOUND",
    "previousLeg" -> previous.name,
    "source"      -> previous.source.toString,
    "leg"         -> leg,
    "column"      -> column,
    "role"        -> role,
    "columns"     -> columns.mkString(", "),
    "remedy"      -> remedy
  )

  /** @param found values of the option `logColumns` that fit */
  def severalColumns(previous: Leg, leg: String, found: Seq[String]): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.COLUMNS_NOT_UNIQUE",
    "previousLeg" -> previous.name,
    "source"      -> previous.source.toString,
    "leg"         -> leg,
    "columns"     -> found.mkString(" and ")
  )

  /** @param topics topics of the log of `leg` */
  def notOneTopic(previous: Leg, leg: String, topics: Seq[String]): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.TOPIC_NOT_UNIQUE",
    "previousLeg" -> previous.name,
    "leg"         -> leg,
    "topics"      -> (if (topics.isEmpty) "no topic" else s"the topics ${text(topics)}")
  )

  def columnType(
      previous: Leg,
      leg: String,
      column: String,
      role: String,
      actual: String,
      expected: String,
      remedy: String
  ): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH",
    "previousLeg" -> previous.name,
    "source"      -> previous.source.toString,
    "leg"         -> leg,
    "column"      -> column,
    "role"        -> role,
    "type"        -> actual,
    "expected"    -> expected,
    "remedy"      -> remedy
  )

  def invalidOffsets(previous: Leg, leg: String, column: String, role: String, rows: Long): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER_DATA.INVALID_OFFSETS",
      "previousLeg" -> previous.name,
      "source"      -> previous.source.toString,
      "leg"         -> leg,
      "column"      -> column,
      "role"        -> role,
      "rows"        -> rows.toString
    )

  /** Error for files that tasks have not counted, and that a second read could count differently. */
  def notCounted(skipping: SkippingLeg, leg: String): SpliceException = conditions.error(
    "SPLICE_HAND_OVER_DATA.COUNTS_LOST",
    "previousLeg" -> skipping.name,
    "leg"         -> leg,
    "settings"    -> skipping.found,
    "remedy"      -> skipping.remedy
  )

  /** Error for a file that tasks have not counted, and that can no longer be read as before. */
  def notCountable(previous: String, leg: String, cause: SpliceException): SpliceException = conditions.error(
    "SPLICE_HAND_OVER_DATA.FILE_NOT_COUNTED",
    cause,
    "previousLeg" -> previous,
    "leg"         -> leg,
    "reason"      -> cause.text
  )

  /** @param partitions
    *   one text per partition
    */
  def holes(previous: Seq[String], leg: String, partitions: Seq[String]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER_DATA.HOLES",
      "previousLeg" -> named(previous),
      "leg"         -> leg,
      "holes"       -> text(partitions)
    )

  def gap(previous: Seq[String], leg: String, lost: Seq[(LogPartition, Ranges)]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER_DATA.GAP",
      "previousLeg" -> named(previous),
      "leg"         -> leg,
      "ranges"      -> text(lost.map { case (p, ranges) => s"$p $ranges" })
    )

  /** @param ends
    *   partition, end of the history, end of the log
    */
  def ahead(previous: Seq[Leg], leg: String, ends: Seq[(LogPartition, Long, Long)]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER_DATA.HISTORY_BEYOND_LOG",
      "previousLeg" -> named(previous.map(_.name)),
      "logColumns"  -> logColumns(previous),
      "leg"         -> leg,
      "ends"        -> text(ends.map { case (p, history, log) =>
        s"$p ends at $history in the history and at $log in the log"
      })
    )

  def notInLog(previous: Seq[Leg], leg: String, partitions: Seq[LogPartition]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.PARTITION_NOT_FOUND",
      "previousLeg" -> named(previous.map(_.name)),
      "logColumns"  -> logColumns(previous),
      "leg"         -> leg,
      "partitions"  -> text(partitions.map(_.toString))
    )

  def noLog(option: String, leg: String, source: String): SpliceOptionException =
    conditions.option("SPLICE_HAND_OVER.NO_LOG", "option" -> option, "leg" -> leg, "source" -> source)

  def timeNotSupported(option: String, rule: String, leg: String, source: String): SpliceOptionException =
    conditions.option(
      "SPLICE_HAND_OVER.TIME_NOT_SUPPORTED",
      "option" -> option,
      "rule"   -> rule,
      "leg"    -> leg,
      "source" -> source
    )

  def duplicates(previous: Seq[String], leg: String, texts: Seq[String]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER_DATA.DUPLICATES",
      "previousLeg" -> named(previous),
      "leg"         -> leg,
      "duplicates"  -> text(texts)
    )

  def noEventTime(previous: String, leg: String, column: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_EVENT_TIME", "previousLeg" -> previous, "leg" -> leg, "column" -> column)

  def noFiles(previous: String, leg: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_FILES", "previousLeg" -> previous, "leg" -> leg)

  def endInFuture(previous: String, leg: String, label: String, last: Instant, now: Instant): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER_DATA.END_IN_FUTURE",
      "previousLeg" -> previous,
      "leg"         -> leg,
      "bound"       -> label,
      "time"        -> last.toString,
      "currentTime" -> now.toString
    )

  /** @param rule name of the code of the user-defined rule */
  def ruleFailed(previous: String, leg: String, rule: String, cause: Throwable): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.RULE_FAILED",
    cause,
    "previousLeg" -> previous,
    "leg"         -> leg,
    "rule"        -> rule,
    "reason"      -> s"${cause.getClass.getName}: ${cause.getMessage}"
  )

  /** @param result the result of the rule */
  def invalidStart(previous: String, leg: String, rule: String, result: String, reason: String): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.INVALID_START",
      "previousLeg" -> previous,
      "leg"         -> leg,
      "rule"        -> rule,
      "result"      -> result,
      "reason"      -> reason
    )

  def noWriter(previous: String, leg: String, checkpoint: String, query: String): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.WRITER_NOT_FOUND",
    "previousLeg" -> previous,
    "leg"         -> leg,
    "checkpoint"  -> checkpoint,
    "query"       -> query
  )

  def noWriterFile(previous: String, leg: String, checkpoint: String, file: String): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.WRITER_FILE_NOT_FOUND",
    "previousLeg" -> previous,
    "leg"         -> leg,
    "checkpoint"  -> checkpoint,
    "file"        -> file
  )

  def noWriterSource(previous: String, leg: String, file: String, source: Int): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.WRITER_SOURCE_NOT_FOUND",
    "previousLeg" -> previous,
    "leg"         -> leg,
    "file"        -> file,
    "source"      -> source.toString
  )

  def noStream(option: String, leg: String, source: String): SpliceOptionException =
    conditions.option("SPLICE_HAND_OVER.NO_STREAM", "option" -> option, "leg" -> leg, "source" -> source)

  /** @param source the source of the previous leg */
  def noVersion(previous: String, leg: String, source: String): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.VERSION_NOT_SUPPORTED",
    "previousLeg" -> previous,
    "leg"         -> leg,
    "source"      -> source
  )

  def versionGap(previous: String, leg: String, table: String, version: String): SpliceException = conditions.error(
    "SPLICE_HAND_OVER_DATA.VERSION_EXPIRED",
    "previousLeg" -> previous,
    "leg"         -> leg,
    "table"       -> table,
    "version"     -> version
  )

  // A topic may have thousands of partitions.
  private def text(all: Seq[String]): String = {
    val rest = all.size - Shown
    (all.take(Shown) ++ Option.when(rest > 0)(s"and $rest more")).mkString("; ")
  }

  private def named(legs: Seq[String]): String = legs.mkString("' and '")

  /** Names of the option `logColumns` of the legs. A leg that reads a log has no columns to set. */
  private def logColumns(legs: Seq[Leg]): String = {
    val archives = legs.filterNot(_.source.readsLog)
    (if (archives.isEmpty) legs else archives).map(leg => s"'${leg.name}.logColumns'").mkString(" and ")
  }
}
