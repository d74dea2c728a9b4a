// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import splice.files.internal.options.OnFileChanged
import splice.files.internal.settings.FileSettings

/** Policies of a task for files that differ from their listing.
  *
  * @param ignoreMissing
  *   skip missing files (Spark's `ignoreMissingFiles`)
  * @param ignoreCorrupt
  *   skip the remaining rows of an unreadable file (Spark's `ignoreCorruptFiles`)
  */
final private[splice] case class FilePolicy(onChanged: OnFileChanged, ignoreMissing: Boolean, ignoreCorrupt: Boolean)

private[splice] object FilePolicy {
  def apply(settings: FileSettings): FilePolicy = {
    val tolerance = settings.tolerance
    FilePolicy(settings.onFileChanged, tolerance.ignoreMissingFiles, tolerance.ignoreCorruptFiles)
  }
}
