// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Instant

import splice.source.SpliceException

/** Errors of a hand-over whose history gives no start. The decision is not durable then, so a restart evaluates the rule again. */
private[splice] object HandOverErrors {

  private def conditions = HybridErrors.conditions

  def noRows(before: Seq[String], leg: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_ROWS", "before" -> named(before), "leg" -> leg)

  def noOffsets(before: String, leg: String, cause: SpliceException): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_OFFSETS", cause, "before" -> before, "leg" -> leg, "why" -> cause.getMessage)

  /** @param role what the rule of `leg` takes the column of `before` for */
  def columnNotFound(
      before: Leg,
      leg: String,
      column: String,
      role: String,
      columns: Seq[String],
      option: String
  ): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.COLUMN_NOT_FOUND",
    "before"  -> before.name,
    "source"  -> before.source.toString,
    "leg"     -> leg,
    "column"  -> column,
    "role"    -> role,
    "columns" -> columns.mkString(", "),
    "option"  -> option
  )

  def columnType(
      before: Leg,
      leg: String,
      column: String,
      role: String,
      found: String,
      expected: String,
      option: String
  ): SpliceException = conditions.error(
    "SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH",
    "before"   -> before.name,
    "source"   -> before.source.toString,
    "leg"      -> leg,
    "column"   -> column,
    "role"     -> role,
    "type"     -> found,
    "expected" -> expected,
    "option"   -> option
  )

  def invalidOffsets(before: Leg, leg: String, column: String, role: String, rows: Long): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.INVALID_OFFSETS",
      "before" -> before.name,
      "source" -> before.source.toString,
      "leg"    -> leg,
      "column" -> column,
      "role"   -> role,
      "rows"   -> rows.toString
    )

  def holes(before: Seq[String], leg: String, partitions: Seq[PartitionHistory]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.HOLES",
      "before" -> named(before),
      "leg"    -> leg,
      "holes"  -> partitions.map(_.lacks).mkString("; ")
    )

  def duplicates(before: Seq[String], leg: String, found: Seq[String]): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.DUPLICATES",
      "before" -> named(before),
      "leg"    -> leg,
      "found"  -> found.mkString("; ")
    )

  def noEventTime(before: String, leg: String, column: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_EVENT_TIME", "before" -> before, "leg" -> leg, "column" -> column)

  def noFiles(before: String, leg: String): SpliceException =
    conditions.error("SPLICE_HAND_OVER.NO_FILES", "before" -> before, "leg" -> leg)

  def endInFuture(before: String, leg: String, what: String, found: Instant, now: Instant): SpliceException =
    conditions.error(
      "SPLICE_HAND_OVER.END_IN_FUTURE",
      "before" -> before,
      "leg"    -> leg,
      "what"   -> what,
      "found"  -> found.toString,
      "now"    -> now.toString
    )

  private def named(legs: Seq[String]): String = legs.mkString("' and '")
}
