// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.atomic.AtomicReference

import org.slf4j.LoggerFactory

import splice.files.internal.options.EndCondition
import splice.files.internal.settings.WatchSettings
import splice.files.internal.split.ListedFile
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn

/** Lists a watched folder, and keeps the new files until the query stores them.
  *
  * One thread at a time calls [[list]]. The thread of the query calls all other methods.
  *
  * @param policies
  *   errors for files that the listings find
  * @param known
  *   files of the list
  * @param begin
  *   state of an earlier run: limit, number of forgotten files, and newest file
  * @param isFinal
  *   true if a listing is the last one in any case
  * @param most
  *   number of known files up to which no file is forgotten
  * @param steady
  *   clock for durations
  */
final private[files] class Watcher(
    lister: FolderLister,
    settings: WatchSettings,
    policies: WatchPolicies,
    known: KnownFiles,
    begin: WatchState,
    clock: Clock,
    steady: Clock,
    isFinal: Boolean,
    most: Int = LateLimit.Most
) {

  import Watcher.logger

  private val state  = new AtomicReference(begin)
  private val failed = new AtomicReference(Option.empty[Throwable])
  private val limits = LateLimit(settings.horizon, most)

  @volatile private var isOnly  = false
  @volatile private var isBegun = false

  private var full     = Option.empty[Instant]
  private var duration = Duration.ZERO
  private var noted    = Map.empty[String, Int]

  /** Lists the folder once. */
  def list(): Unit = if (!state.get.isLast) {
    isBegun = true
    val from     = steady.instant()
    val began    = state.get
    val isMarked = settings.endWhen.exists {
      case EndCondition.Marker(name) => lister.exists(name)
      case _                         => false
    }
    val isFull = full.forall(at => settings.fullListings.exists(every => !from.isBefore(at.plus(every)))) ||
      isOnly || isMarked || began.isQuiet || (endsWithRounds && began.isRead)
    val listing = lister.list(known, began.limit, isFull)
    if (isFull) full = Some(from)
    // The next listing of this run would not find these files again, for example after an error of a lack of memory.
    try take(listing, WatchState.Listing(began, from, isOnly, isMarked, isFinal))
    catch {
      case e: Throwable =>
        fail(e)
        throw e
    }
    duration = Duration.between(from, steady.instant())
  }

  private def take(listing: FolderListing, during: WatchState.Listing): Unit = {
    listing.files.foreach(file => known.add(SeenFile(file.path, file.modified, file.size)))
    warn(listing, during.began)
    val at    = steady.instant()
    val now   = change(_.listed(listing, during, settings.endWhen, settings.minAge, at))
    val limit = limits.after(now.limit, known.size, now.newest, now.oldestPending, clock.instant())
    if (limit != now.limit) {
      val files = limit.fold(0)(known.forget)
      val _     = change(_.forgot(limit, files))
    }
    if (now.isLast && listing.young > 0)
      logger.warn(s"The folder ends without ${listing.young} files that are younger than 'minFileAge'.")
  }

  private def endsWithRounds = settings.endWhen.contains(EndCondition.CaughtUp)

  private def warn(listing: FolderListing, began: WatchState): Unit = {
    val late = listing.old - began.forgotten
    if (late > began.late) {
      val error = policies.late(late, Instant.ofEpochMilli(began.limit.getOrElse(0L)))
      settings.onLate match {
        case FailOrWarn.Fail => fail(error)
        case FailOrWarn.Warn => logger.warn(error.getMessage)
      }
    }
    listing.changed.foreach { file =>
      val error = policies.changed(file)
      policies.onChanged match {
        case FailOrWarn.Fail => fail(error)
        case FailOrWarn.Warn =>
          logger.warn(error.getMessage)
          known.add(file.seen)
      }
    }
    note(
      listing.ignored,
      "are not read. If a path has files in folders named column=value, Splice reads only these files, else only the " +
        "files directly in the path."
    )
    note(
      listing.ahead,
      "are later than the clock of the driver. Splice reads these files when their age is 'minFileAge'. Correct the " +
        "clock of the storage or the times of the files, or restart the query without 'minFileAge'."
    )
  }

  /** Warns of files if their number grows. */
  private def note(files: Option[(Int, String)], text: String): Unit =
    files.filter(_._1 > noted.getOrElse(text, 0)).foreach { case (number, example) =>
      logger.warn(s"$number files, for example $example, $text")
      noted += text -> number
    }

  private def fail(error: Throwable): Unit = { val _ = failed.compareAndSet(None, Some(error)) }

  /** Pause until the next listing. */
  def pause: Duration = if (!isBegun) Duration.ZERO else Seq(settings.interval, duration).max

  /** Lists once in this run, as Spark's AvailableNow needs. */
  def once(): Unit = isOnly = true

  /** @throws SpliceException if a listing has found a file that a policy rejects, or if the files of a listing are lost */
  def check(): Unit = failed.get.foreach(throw _)

  def hasFailed: Boolean = failed.get.nonEmpty

  /** First pending files; not removed. */
  def pending(most: Int): IndexedSeq[ListedFile] = state.get.pending.take(most)

  def hasPending: Boolean = state.get.pending.nonEmpty

  /** Removes the first pending files, which a segment has now. */
  def stored(files: Int): Unit = { val _ = change(_.stored(files)) }

  /** Notes that the query has read all known files. */
  def read(): Unit = { val _ = change(now => if (now.pending.isEmpty) now.copy(isRead = true) else now) }

  def now: WatchState = state.get

  private def change(next: WatchState => WatchState): WatchState = state.updateAndGet(before => next(before))
}

/** Policies for files that the listings of a watched folder find.
  *
  * @param late
  *   error for a number of files that are older than a time
  */
final private[splice] case class WatchPolicies(
    onChanged: FailOrWarn,
    changed: FolderListing.ChangedFile => SpliceException,
    late: (Long, Instant) => SpliceException
)

private object Watcher {
  private val logger = LoggerFactory.getLogger(classOf[Watcher])
}
