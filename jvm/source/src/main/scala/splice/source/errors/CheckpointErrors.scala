// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.errors

import splice.source.internal.ErrorConditions

/** Errors about what a checkpoint holds. */
object CheckpointErrors {

  private val conditions = new ErrorConditions("splice/source/error-conditions.json")

  /** Written by a newer version of Splice. */
  def newer(what: String, found: Int, known: Int): SpliceException =
    conditions.error(
      "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED",
      "what"  -> what,
      "found" -> found.toString,
      "known" -> known.toString
    )

  /** Not what Splice writes there. */
  def corrupt(what: String, why: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.CORRUPT", "what" -> what, "why" -> why)

  /** Written by another source. */
  def foreign(what: String, expected: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.OTHER_SOURCE", "what" -> what, "expected" -> expected)

  /** The query is not the one that began the checkpoint. */
  def changed(difference: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.SOURCE_CHANGED", "difference" -> difference)

  /** An entry that an offset needs is gone. */
  def missingEntry(what: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.ENTRY_NOT_FOUND", "what" -> what)

  /** The storage of a file may replace a file that another driver creates at the same time. */
  def storeNotAtomic(file: String, why: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.STORE_NOT_ATOMIC", "file" -> file, "why" -> why)

  /** A folder is not that of a checkpoint. */
  def notThere(folder: String): SpliceException =
    conditions.error("SPLICE_CHECKPOINT.NOT_FOUND", "folder" -> folder)
}
