// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.errors

import splice.source.errors.SpliceUnsupportedException
import splice.source.internal.ErrorConditions
import splice.source.internal.legs.{LegIdentity, SkippingLeg}

/** Errors of Splice's interface to Spark. */
private[spark] object FrontErrors {

  private val conditions = new ErrorConditions("splice/spark/error-conditions.json")

  def writing(kind: String): SpliceUnsupportedException =
    conditions.unsupported("SPLICE_SOURCE.WRITE_NOT_SUPPORTED", "source" -> kind)

  def noRealTime(kind: String): SpliceUnsupportedException =
    conditions.unsupported("SPLICE_REAL_TIME.SOURCE_NOT_SUPPORTED", "source" -> kind)

  def noRealTime(leg: LegIdentity): SpliceUnsupportedException = unsupported("SPLICE_REAL_TIME.LEG_NOT_SUPPORTED", leg)

  def limitsInRealTime(options: Seq[String]): SpliceUnsupportedException =
    conditions.unsupported("SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED", "options" -> quoted(options))

  def tooFewCores(sources: Int, tasks: Int): SpliceUnsupportedException = conditions.unsupported(
    "SPLICE_REAL_TIME.TOO_FEW_CORES",
    "sources" -> sources.toString,
    "tasks"   -> tasks.toString
  )

  def notContinuous(kind: String): SpliceUnsupportedException =
    conditions.unsupported("SPLICE_CONTINUOUS.SOURCE_NOT_SUPPORTED", "source" -> kind)

  def notContinuous(leg: LegIdentity): SpliceUnsupportedException =
    unsupported("SPLICE_CONTINUOUS.LEG_NOT_SUPPORTED", leg)

  def skipsInContinuous(leg: SkippingLeg): SpliceUnsupportedException = conditions.unsupported(
    "SPLICE_CONTINUOUS.SKIPPED_FILES_NOT_SUPPORTED",
    "leg"      -> leg.name,
    "settings" -> leg.found,
    "remedy"   -> leg.remedy
  )

  def limitsInContinuous(options: Seq[String]): SpliceUnsupportedException =
    conditions.unsupported("SPLICE_CONTINUOUS.LIMIT_NOT_SUPPORTED", "options" -> quoted(options))

  /** The query cannot run in continuous mode until the batches after the last committed batch are read. */
  def uncommitted(batches: Seq[Long]): SpliceUnsupportedException =
    conditions.unsupported("SPLICE_CONTINUOUS.UNCOMMITTED_BATCH", "batches" -> batches.mkString(", "))

  /** After an epoch of continuous mode, Spark cannot continue the checkpoint with another trigger. */
  def afterContinuous(batch: Long, position: Option[String]): SpliceUnsupportedException = conditions.unsupported(
    "SPLICE_CONTINUOUS.TRIGGER_NOT_SUPPORTED",
    "batch"    -> batch.toString,
    "position" -> position.getOrElse("of the first start")
  )

  private def unsupported(condition: String, leg: LegIdentity): SpliceUnsupportedException =
    conditions.unsupported(condition, "leg" -> leg.name.getOrElse(""), "source" -> leg.source)

  private def quoted(options: Seq[String]): String = options.map(o => s"'$o'").mkString(", ")
}
