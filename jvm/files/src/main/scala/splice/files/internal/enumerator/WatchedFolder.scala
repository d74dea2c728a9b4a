// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.{Duration, Instant}
import java.util.concurrent.TimeoutException

import scala.collection.immutable.SortedMap

import splice.files.internal.split.ListedFile
import splice.files.internal.watch._
import splice.source.internal.polling.{PendingPoll, Poller}
import splice.source.runtime.ProgressMetric
import splice.source.{EnumeratorContext, ReadMode}

/** Watched folder of one run: stores the files that listings find as segments of the list, and closes the list at its
  * end. The thread of the query calls all methods except [[isStale]].
  */
final private[files] class WatchedFolder(lists: FileLists, storage: WatchedStorage, context: EnumeratorContext)
    extends AutoCloseable {

  import WatchedFolder._

  private val settings = storage.watch

  private var isFrozen = false

  // Read by the tasks of open-ended batches.
  @volatile private var opened = Option.empty[Opened]
  @volatile private var isIdle = false

  /** Begins a list, unless an earlier run has begun it. */
  def begin(number: Int): Unit = {
    val entries = lists.of(number)
    if (!entries.exists) {
      val folder = open(number)
      if (folder.watcher.now.last.isEmpty) folder.watcher.list()
      // Young files show that the storage is available.
      if (!folder.watcher.hasPending && folder.watcher.now.young == 0) storage.rejectEmpty(context)
      entries.beginWatch()
      end(folder, entries)
    }
  }

  /** Lists the folder for the only time in this run. */
  def freeze(): Unit = {
    isFrozen = true
    val last =
      Iterator.from(0).takeWhile(number => number == 0 || lists.exists(number)).foldLeft(0)((_, number) => number)
    if (!lists.of(last).isClosed) {
      close()
      opened = None
      val folder = open(last)
      folder.watcher.list()
      // A run with a fixed end reads the next leg, too. A batch that closes the list has no rows.
      if (lists.exists(last)) end(folder, lists.of(last))
    }
  }

  /** Stores the next files after a position, if a batch from this position may need them.
    *
    * @param isAll
    *   true if the batch has all files
    */
  def grow(at: FilesPosition, isAll: Boolean = false): Unit = {
    val entries = lists.of(at.list)
    if (!entries.isClosed) {
      val folder = open(at.list)
      folder.check(settings.timeout, context.steady.instant())
      if (!isFrozen) folder.poller.begin()
      if (isAll) while (opened.exists(_.watcher.hasPending)) append(open(at.list), entries)
      else if (needsFiles(entries.stored - at.files, folder)) append(folder, entries)
      end(open(at.list), entries)
      val isRead = at.files == entries.stored && at.partly.isEmpty
      if (isRead) opened.foreach(_.watcher.read())
      isIdle = isRead
    }
  }

  // Small segments cost more than their files, so a backlog gets only full segments.
  private def needsFiles(unread: Int, folder: Opened): Boolean =
    unread < storage.mostFiles &&
      (unread < Enough || folder.watcher.pending(storage.mostFiles).size == storage.mostFiles)

  private def append(folder: Opened, entries: FileListEntries): Unit = {
    val files = folder.watcher.pending(storage.mostFiles)
    if (files.nonEmpty && store(files, folder, entries)) folder.watcher.stored(files.size)
  }

  /** Closes the list if no file can follow. */
  private def end(folder: Opened, entries: FileListEntries): Unit =
    if (folder.watcher.now.hasEnded) {
      // The last listing may have found a file that a policy rejects.
      folder.watcher.check()
      if (store(IndexedSeq.empty, folder, entries)) entries.close(entries.stored)
    }

  /** Notes that a batch begins at the end of the list, so that the next leg can begin. */
  def noticeEnd(): Unit = isIdle = false

  /** Stores the next segment. Returns false if another driver has stored other files first, so that the known files of
    * this run are wrong.
    */
  private def store(files: IndexedSeq[ListedFile], folder: Opened, entries: FileListEntries): Boolean = {
    val stored = entries.append(storage.segment(files, entries.last, folder.lister, context))
    val isOwn  = stored.files.map(_.path).toSet == files.map(_.path).toSet
    if (!isOwn) {
      folder.close()
      opened = None
      if (isFrozen) freeze()
    }
    isOwn
  }

  /** Merges segments that no retained batch needs. A folder with an end keeps its segments, because a hand-over may
    * count all files at the end.
    */
  def retain(oldest: FilesPosition): Unit =
    if (settings.endWhen.isEmpty) lists.of(oldest.list).merge(oldest.firstFile, opened.flatMap(_.watcher.now.limit))

  /** True if an open-ended batch without files must end: files have arrived, the folder has ended, or it fails. The
    * batch that stores the end may have no rows, so the folder is stale until a batch begins at its end.
    */
  def isStale: Boolean = isIdle && opened.exists { folder =>
    folder.watcher.hasPending || folder.watcher.now.isLast || folder.watcher.hasFailed ||
    folder.poller.health.over(settings.timeout).nonEmpty
  }

  def interval: Duration = settings.interval

  /** Bytes of files that no segment has yet. */
  def pendingBytes: Long = opened.fold(0L)(_.watcher.now.pending.iterator.map(_.size).sum)

  def figures: SortedMap[String, String] = opened.fold(SortedMap.empty[String, String]) { folder =>
    val now = folder.watcher.now
    val age = now.last.map(Duration.between(_, context.steady.instant()))
    SortedMap(
      ProgressMetric.FilesListed       -> now.listed.toString,
      ProgressMetric.FilesLate         -> now.late.toString,
      ProgressMetric.FilesChanged      -> now.changed.toString,
      ProgressMetric.DiscoveryFailures -> folder.poller.health.total.toString
    ) ++ age.map(ProgressMetric.DiscoveryAge -> _.toMillis.toString)
  }

  private def open(number: Int): Opened = opened.filter(_.number == number).getOrElse {
    opened.foreach(_.close())
    val entries            = lists.of(number)
    val known              = new KnownFiles(entries.remembered)
    var newest             = Long.MinValue
    var bytes              = 0L
    val (limit, forgotten) = entries.files { file =>
      known.add(file)
      newest = math.max(newest, file.modified)
      bytes += file.length
    }
    val lister         = storage.lister(entries.last.map(_.schemas))
    val state          = WatchState.begin(limit, forgotten, newest, bytes, context.steady.instant())
    val isFinal        = context.mode == ReadMode.Batch
    val (wall, steady) = (context.clock, context.steady)
    val watcher        =
      new Watcher(lister, settings, storage.policies, known, state, wall, steady, isFinal, storage.mostKnown)
    if (isFrozen) watcher.once()
    val poller = storage.poller(s"splice-files-watch-${context.run}", watcher.pause, context)(watcher.list())
    val folder = new Opened(number, lister, watcher, poller, storage)
    opened = Some(folder)
    folder
  }

  override def close(): Unit = opened.foreach(_.close())
}

private object WatchedFolder {

  // A batch without limits reads more, and a batch with limits rarely needs more.
  private val Enough = 1000

  final private class Opened(
      val number: Int,
      val lister: FolderLister,
      val watcher: Watcher,
      val poller: Poller,
      storage: WatchedStorage
  ) {

    // The running listing and the number of its responses, at the first check that saw them.
    private var seen = Option.empty[(PendingPoll, Long, Instant)]

    /** @throws splice.source.errors.SpliceException
      *   if a policy rejects a file, or if listings have failed for too long, or if a listing has no response for too
      *   long
      */
    def check(timeout: Duration, now: Instant): Unit = {
      watcher.check()
      val health  = poller.health
      val running = health.pending.flatMap(poll => lister.waiting.map((poll, _, now)))
      if (running.map(r => (r._1, r._2)) != seen.map(r => (r._1, r._2))) seen = running
      val silent = seen.filter { case (_, _, since) => !now.isBefore(since.plus(timeout)) }.map { case (_, _, since) =>
        since -> new TimeoutException("the storage does not respond to the request of a listing")
      }
      health.over(timeout).orElse(silent).foreach { case (since, error) => throw storage.failed(since, error) }
    }

    def close(): Unit = poller.close()
  }
}
