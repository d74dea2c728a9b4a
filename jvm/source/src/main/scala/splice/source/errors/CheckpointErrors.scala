// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.errors

import splice.source.internal.ErrorConditions

/** Errors about the content of a checkpoint. */
object CheckpointErrors {

  private val conditions = ErrorConditions.OfSource

  /** Creates the error for content that a newer version of Splice wrote. */
  def newer(content: String, version: Int, supported: Int): SpliceException =
    conditions.error(
      "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED",
      "content"   -> content,
      "found"     -> version.toString,
      "supported" -> supported.toString
    )

  /** Creates the error for content that is damaged. */
  def corrupt(content: String, reason: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.CORRUPT", "content" -> content, "reason" -> reason)

  /** Creates the error for content that another source wrote. */
  def foreign(content: String, expected: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.OTHER_SOURCE", "content" -> content, "expected" -> expected)

  /** Creates the error for a source that differs from the source that created the checkpoint. */
  def changed(difference: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.SOURCE_CHANGED", "difference" -> difference)

  /** Creates the error for a missing side-log entry that an offset needs. */
  def missingEntry(content: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.ENTRY_NOT_FOUND", "content" -> content)

  /** True for the error of a missing side-log entry. */
  private[splice] def isMissingEntry(error: SpliceException): Boolean =
    error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND"

  /** Creates the error for storage that may replace a file that another driver creates at the same time. */
  def storeNotAtomic(file: String, reason: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.STORE_NOT_ATOMIC", "file" -> file, "reason" -> reason)

  /** Creates the error for a folder that is not the folder of a checkpoint. */
  def notFound(folder: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.NOT_FOUND", "folder" -> folder)
}
