// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.settings

import splice.files.internal.errors.FileErrors
import splice.files.internal.options.{FileOptions, WatchOptions}
import splice.source.options.SourceOptions

/** Options of Spark's file stream that the file source does not support. The file formats would ignore these options
  * silently.
  */
private[files] object StreamOptions {

  private type Name = String => String

  private val instead: Seq[(String, Name => String)] = Seq(
    "latestFirst" -> { name =>
      s"Splice reads the oldest files first. Remove the option, or set '${name(FileOptions.OrderBy.key)}' to 'path'"
    },
    "maxFileAge" -> { name =>
      s"Splice reads listed files of any age. To exclude old files, set '${name(FileOptions.ModifiedAfter.key)}'. To " +
        s"forget old files of a watched folder, set '${name(WatchOptions.LateFileHorizon.key)}'"
    },
    "cleanSource" ->
      (_ => "Splice does not delete or move files. Remove the option, and clean the folder outside of the query"),
    "sourceArchiveDir" ->
      (_ => "Splice does not move files. Remove the option, and archive the files outside of the query"),
    "fileNameOnly"            -> (_ => "Splice identifies a file by its path. Remove the option"),
    "maxCachedFiles"          -> (_ => "Splice keeps the new files of each listing. Remove the option"),
    "discardCachedInputRatio" -> (_ => "Splice keeps the new files of each listing. Remove the option")
  )

  /** @throws splice.source.errors.SpliceOptionException if one of these options is set */
  def reject(options: SourceOptions): Unit =
    instead.find { case (key, _) => options.contains(key) }.foreach { case (key, remedy) =>
      throw FileErrors.optionNotSupported(options.name(key), remedy(options.name))
    }
}
