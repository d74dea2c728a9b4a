// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.checks

import com.fasterxml.jackson.databind.JsonNode

import splice.source.errors.SpliceException
import splice.source.internal.entries.Json

/** Result of a check of a checkpoint.
  *
  * @param where
  *   the file of the checkpoint, relative to the checkpoint, or a topic, a partition or a file of the source
  * @param next
  *   the next step of the user
  * @param isProblem
  *   false for a fact that the check cannot judge
  */
final private[splice] case class CheckpointFinding(
    where: String,
    what: String,
    next: String,
    isProblem: Boolean = true
) {

  def json: JsonNode = Json.obj(
    "where"   -> Json.text(where),
    "what"    -> Json.text(what),
    "next"    -> Json.text(next),
    "problem" -> Json.bool(isProblem)
  )
}

private[splice] object CheckpointFinding {

  private val Restore =
    "Restore the file from a copy of the checkpoint. Without a copy, start with a new checkpoint location."

  /** Returns the finding for content that Splice could not read. */
  def of(where: String, error: SpliceException): CheckpointFinding = CheckpointFinding(where, error.text, Restore)

  /** Returns the finding for a missing file. */
  def missing(where: String, reason: String): CheckpointFinding =
    CheckpointFinding(where, s"The file is missing. $reason", Restore)

  /** Returns the findings of a check that may stop at an error of the checkpoint. */
  def caught(where: String)(check: => Seq[CheckpointFinding]): Seq[CheckpointFinding] =
    try check
    catch { case e: SpliceException if e.condition.startsWith("SPLICE_CHECKPOINT.") => Seq(of(where, e)) }
}
