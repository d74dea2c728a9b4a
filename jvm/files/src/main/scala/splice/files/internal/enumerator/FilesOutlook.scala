// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.Instant

import splice.files.internal.listing.Footers
import splice.source.TimeRange
import splice.source.log.Outlook
import splice.source.runtime.Jobs

/** Outlook of a list of files. The first use of the row count or of a greatest value reads the footers.
  *
  * @param ofListing
  *   warnings of the listing
  */
final private[files] class FilesOutlook(list: FileList, ofListing: Seq[String], storage: FileStorage, jobs: Jobs)
    extends Outlook {

  private lazy val footers: Option[Footers] =
    if (list.files.sizeIs <= FilesOutlook.MostFooters) storage.footers(list.files, jobs).map(Footers.of)
    else None

  override def files: Option[Long] = Some(list.files.size.toLong)

  override def bytes: Option[Long] = Some(list.unread(FilesPosition.Start))

  override def rows: Option[Long] = footers.filter(_.failed == 0).map(_.rows)

  override def latest: Map[String, Instant] = footers.fold(Map.empty[String, Instant])(_.latest)

  override def modified: Option[TimeRange] = list.modified

  override def warnings: Seq[String] = ofListing ++ footers.filter(_.failed > 0).map { summary =>
    s"the footers of ${summary.failed} files cannot be read, for example: ${summary.example.mkString}"
  }
}

private object FilesOutlook {

  /** Limit of footers to read. More footers take minutes on a few cores. */
  private val MostFooters = 10000
}
