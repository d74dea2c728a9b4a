// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.lang.ref.SoftReference

import splice.files.internal.settings.FileSettings
import splice.files.internal.split.FileSchemas
import splice.source.ReadMode

/** Columns that Spark's analyzer has received for a source. The query must use the same columns. Thread-safe. */
final private[files] class AnalysedFiles(settings: FileSettings) {

  private var known: Option[(FileSchemas, SoftReference[FileListing])] = None

  /** Columns of the files. The first call lists the files. */
  def schemas: FileSchemas = synchronized(known.fold(listNow().schemas)(_._1))

  /** Columns, if the files were listed. */
  def listed: Option[FileSchemas] = synchronized(known.map(_._1))

  /** Returns the files for a run. As in Spark, a batch uses the listing of its analysis. A stream may start much later
    * than its analysis, so Splice lists the files of a stream again.
    */
  def listing(mode: ReadMode): FileListing = synchronized {
    val before = known.flatMap { case (_, listing) => Option(listing.get) }
    before.filter(_ => mode == ReadMode.Batch).getOrElse(listNow())
  }

  private def listNow(): FileListing = {
    val analysed = known.map { case (schemas, _) => FileListing.Before(schemas) }
    val columns  = analysed.orElse(settings.schema.map(FileListing.Given)).getOrElse(FileListing.Nothing)
    val created  = settings.users.guarded(FileListing(settings, columns))
    known = Some(settings.users.guarded(created.schemas) -> new SoftReference(created))
    created
  }
}
