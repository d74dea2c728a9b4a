// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import java.io.IOException
import java.time.{Duration, Instant}

import splice.files.internal.enumerator.{FileList, WatchedStorage}
import splice.files.internal.errors.FileErrors
import splice.files.internal.options.EndCondition
import splice.files.internal.settings.WatchSettings
import splice.files.internal.split.{FileSchemas, ListedFile}
import splice.files.internal.watch.{FolderLister, FolderListing, KnownFiles, SeenFile, WatchPolicies}
import splice.source.EnumeratorContext
import splice.source.errors.SpliceException
import splice.source.internal.polling.{PollHealth, Poller}
import splice.source.options.FailOrWarn
import splice.testkit.simulation.Life

/** Watched folder that ends with `endWhen=caughtUp`. Listings fail at times.
  *
  * @param files
  *   lists the folder
  * @param list
  *   list of files with the settings of a segment, or of this start
  */
final class WatchedFiles(name: String, life: Life, override val mostFiles: Int)(files: => Seq[ListedFile])(
    list: (IndexedSeq[ListedFile], Option[FileList], EnumeratorContext) => FileList
) extends WatchedStorage {

  private var polling = Option.empty[() => Unit]

  /** Lists the folder at times, as the thread of the poller does. */
  def poll(): Unit = polling.filter(_ => life.isCalm || life.chance.oneIn(3)).foreach(_())

  override val watch: WatchSettings = WatchSettings(
    Duration.ofNanos(1),
    Duration.ofDays(999),
    Duration.ZERO,
    None,
    None,
    None,
    FailOrWarn.Warn,
    Seq(EndCondition.CaughtUp)
  )

  override val policies: WatchPolicies = WatchPolicies(
    FailOrWarn.Warn,
    file => FileErrors.listedFileChanged(file.path, file.previous, file.current, identity),
    FileErrors.lateFiles(_, _, mostKnown, identity)
  )

  override def mostKnown: Int = Int.MaxValue

  override def lister(stored: Option[FileSchemas]): FolderLister = new FolderLister {
    override def schemas: Option[FileSchemas]  = Some(FileSchemas.empty)
    override def exists(name: String): Boolean = false
    override def batch: Option[Long]           = None
    override def waiting: Option[Long]         = None

    override def list(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing = {
      life.step(s"$name is listed")
      if (life.ioFails(10)) {
        life.met("a listing fails")
        throw new IOException(s"$name cannot be listed")
      }
      val all     = files.map(file => file -> known.compare(SeenFile(file.path, file.modified, file.size)))
      val changed = all.collect { case (file, before: KnownFiles.Changed) =>
        FolderListing.ChangedFile(file.path, file.modified, file.size, before)
      }
      val newFiles = all.collect { case (file, KnownFiles.New) => file }.toIndexedSeq
      FolderListing(newFiles, all.size.toLong, newest = all.map(_._1.modified).maxOption, changed = changed)
    }
  }

  override def segment(
      files: IndexedSeq[ListedFile],
      last: Option[FileList],
      lister: FolderLister,
      context: EnumeratorContext
  ): FileList = list(files, last, context)

  override def rejectEmpty(context: EnumeratorContext): Unit = ()

  override def failed(since: Instant, error: Throwable): SpliceException =
    FileErrors.listingsFailed(since, error, "discoveryTimeout")

  override def poller(thread: String, pause: => Duration, context: EnumeratorContext)(work: => Unit): Poller =
    new Poller {
      private var state = PollHealth()

      override def begin(): Unit = {
        polling = Some(() => {
          val now = context.steady.instant()
          state = try { work; state.succeeded(now) }
          catch { case e: IOException => state.failed(now, e) }
        })
        poll()
      }

      override def health: PollHealth = state
      override def close(): Unit      = polling = None
    }
}
