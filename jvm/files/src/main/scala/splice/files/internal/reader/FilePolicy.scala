// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import splice.files.internal.options.OnFileChanged
import splice.files.internal.settings.FileSettings

/** What a task does with files that are not as they were listed.
  *
  * @param ignoreMissing
  *   skip a file that is gone (Spark's `ignoreMissingFiles`)
  * @param ignoreCorrupt
  *   skip the rest of a file that cannot be read (Spark's `ignoreCorruptFiles`)
  */
final private[splice] case class FilePolicy(onChanged: OnFileChanged, ignoreMissing: Boolean, ignoreCorrupt: Boolean)

private[splice] object FilePolicy {
  def apply(settings: FileSettings): FilePolicy = {
    val tolerance = settings.tolerance
    FilePolicy(settings.onFileChanged, tolerance.ignoreMissingFiles, tolerance.ignoreCorruptFiles)
  }
}
