// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.lang.ref.SoftReference

import splice.files.internal.settings.FileSettings
import splice.files.internal.split.FileSchemas
import splice.source.ReadMode

/** What Spark's analyser was told of a source, which the query that follows must keep. Called from any thread. */
final private[files] class Analysis(settings: FileSettings) {

  private var known: Option[(FileSchemas, SoftReference[FileListing])] = None

  /** The columns of the files; lists them the first time. */
  def schemas: FileSchemas = synchronized(known.fold(listNow().schemas)(_._1))

  /** The columns, if the files were listed. */
  def found: Option[FileSchemas] = synchronized(known.map(_._1))

  /** The files for a run. A batch reads what was there when it was analysed, with one listing, as in Spark; a stream may be
    * started much later, and lists again.
    */
  def listing(mode: ReadMode): FileListing = synchronized {
    val before = known.flatMap { case (_, listing) => Option(listing.get) }
    before.filter(_ => mode == ReadMode.Batch).getOrElse(listNow())
  }

  private def listNow(): FileListing = {
    val analysed = known.map { case (schemas, _) => FileListing.Before(schemas) }
    val columns  = analysed.orElse(settings.schema.map(FileListing.Given)).getOrElse(FileListing.Nothing)
    val made     = settings.users.guarded(FileListing(settings, columns))
    known = Some(settings.users.guarded(made.schemas) -> new SoftReference(made))
    made
  }
}
