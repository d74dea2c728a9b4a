// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.{Duration, Instant}

import splice.files.internal.options.EndCondition
import splice.files.internal.split.ListedFile

/** What a run knows about a watched folder, apart from the known files.
  *
  * @param pending
  *   files that no segment of the list has yet, in the order of reading
  * @param isLast
  *   true if no later listing adds files
  * @param isRead
  *   true if the query has read all files that it knows
  * @param round
  *   bytes and time of the last round of `caughtUp`: a listing that begins when all files are read
  * @param quiet
  *   time of the last listing with a new file
  * @param isQuiet
  *   true if the next listing may be the last one
  * @param limit
  *   time in milliseconds before which files are forgotten
  * @param forgotten
  *   number of forgotten files
  * @param last
  *   time of the last listing
  * @param late
  *   least number of files that were not read, because they are older than the limit
  * @param young
  *   number of files of the last listing that are younger than `minFileAge`
  */
final private[files] case class WatchState(
    pending: Vector[ListedFile] = Vector.empty,
    isLast: Boolean = false,
    isRead: Boolean = false,
    round: Option[(Long, Instant)] = None,
    quiet: Option[Instant] = None,
    isQuiet: Boolean = false,
    limit: Option[Long] = None,
    forgotten: Long = 0,
    newest: Long = Long.MinValue,
    last: Option[Instant] = None,
    listed: Long = 0,
    late: Long = 0,
    young: Long = 0,
    changed: Long = 0
) {

  /** State after a listing. */
  def listed(
      listing: FolderListing,
      during: WatchState.Listing,
      endWhen: Seq[EndCondition],
      minAge: Duration,
      now: Instant
  ): WatchState = {
    // A later listing has the files that are too young now.
    val isWhole = listing.young == 0
    val bytes   = listing.bytes + listing.youngBytes
    val latest  = (listing.newest ++ Seq(newest)).max
    // The young files of a round are old in the next round, so only an archiver that never stops has always young files.
    val isSpaced = isWhole || round.forall { case (_, at) => !during.from.isBefore(at.plus(minAge)) }
    val isRound  = during.began.isRead && during.began.pending.isEmpty && isSpaced
    val caughtUp = endWhen.contains(EndCondition.CaughtUp) && (isWhole || latest > Long.MinValue) &&
      (during.isOnly || isRound && WatchState.endsRounds(round.map(_._1), bytes))
    val since   = if (listing.files.nonEmpty) now else quiet.getOrElse(now)
    val isStill = listing.files.isEmpty && isWhole && endWhen.exists {
      case EndCondition.Quiet(length) => !now.isBefore(since.plus(length))
      case _                          => false
    }
    copy(
      pending = pending ++ listing.files,
      isLast = isLast || during.isFinal || caughtUp || isWhole && (during.isMarked || during.began.isQuiet),
      isRead = isRead && listing.files.isEmpty,
      round = if (isRound || round.isEmpty) Some(bytes -> during.from) else round,
      quiet = Some(since),
      isQuiet = isStill,
      newest = latest,
      last = Some(now),
      listed = listing.listed,
      late = math.max(late, listing.old - during.began.forgotten),
      young = listing.young,
      changed = changed + listing.changed.size
    )
  }

  /** State after files were forgotten. */
  def forgot(limit: Option[Long], files: Int): WatchState = copy(limit = limit, forgotten = forgotten + files)

  /** State after a segment has the first pending files. */
  def stored(files: Int): WatchState = copy(pending = pending.drop(files), isRead = false)

  def oldestPending: Option[Long] = pending.iterator.map(_.modified).minOption

  /** True if the list has all files of the folder. */
  def hasEnded: Boolean = isLast && pending.isEmpty
}

private[files] object WatchState {

  /** A listing of a run.
    *
    * @param began
    *   state when the listing began
    * @param from
    *   begin of the listing
    * @param isOnly
    *   true if the run lists once
    * @param isMarked
    *   true if the listing began after a file of `endWhen` existed
    * @param isFinal
    *   true if the listing is the last one in any case
    */
  final case class Listing(
      began: WatchState,
      from: Instant,
      isOnly: Boolean,
      isMarked: Boolean = false,
      isFinal: Boolean = false
  )

  /** State at the start of a run.
    *
    * @param bytes
    *   bytes of the files of the list, which are the last round of an earlier run
    */
  def begin(limit: Option[Long], forgotten: Long, newest: Long, bytes: Long, now: Instant): WatchState =
    WatchState(limit = limit, forgotten = forgotten, newest = newest, round = Option.when(bytes > 0)(bytes -> now))

  /** True if the files of a round are the last files of the source. The bytes of rounds halve, so their number is
    * limited, even if files always arrive.
    *
    * @param before
    *   bytes of the round before; None for the first list
    */
  def endsRounds(before: Option[Long], found: Long): Boolean = found == 0 ||
    before.exists(bytes => found >= bytes - bytes / 2)
}
