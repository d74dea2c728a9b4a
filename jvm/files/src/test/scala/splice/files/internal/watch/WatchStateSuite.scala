// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.{Duration, Instant}

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.options.EndCondition
import splice.files.internal.split.ListedFile

/** Tests of the end of a watched folder. */
final class WatchStateSuite extends AnyFunSuite {

  private val MinAge = Duration.ofMinutes(5)

  private val start = Instant.parse("2026-11-01T00:00:00Z")

  private def found(bytes: Long): FolderListing = {
    val files = if (bytes == 0) Nil else Seq(ListedFile(s"/f$bytes", bytes, 0, splittable = true, InternalRow.empty))
    FolderListing(files.toIndexedSeq, files.size.toLong, newest = files.headOption.map(_.modified))
  }

  private def after(
      state: WatchState,
      listing: FolderListing,
      endWhen: EndCondition,
      isOnly: Boolean = false,
      isMarked: Boolean = false,
      seconds: Long = 0
  ): WatchState =
    state.listed(
      listing,
      WatchState.Listing(state, start.plusSeconds(seconds), isOnly, isMarked),
      Seq(endWhen),
      MinAge,
      start.plusSeconds(seconds)
    )

  private def read(state: WatchState): WatchState = state.stored(state.pending.size).copy(isRead = true)

  test("the rounds of caughtUp end, although each listing finds files") {
    @tailrec def rounds(state: WatchState, archiver: Long => Long, bytes: Long, count: Int): Int =
      if (state.isLast || count > 100) count
      else {
        val next = archiver(bytes)
        rounds(read(after(state, found(next), EndCondition.CaughtUp)), archiver, next, count + 1)
      }
    Seq[Long => Long](_ => 1, _ / 3, _ / 2 - 1, identity, _ * 5, _ => 0).foreach { archiver =>
      val first = read(after(WatchState(), found(1L << 30), EndCondition.CaughtUp))
      assert(!first.isLast && rounds(first, archiver, 1L << 30, 1) <= 33)
    }
  }

  test("a listing that begins before all files are read is not a round") {
    val first  = after(WatchState(), found(100), EndCondition.CaughtUp)
    val during = after(first, found(0), EndCondition.CaughtUp)
    assert(!during.isLast && during.round.exists(_._1 == 100))
    assert(after(read(during), found(0), EndCondition.CaughtUp).isLast)
    val arrived = read(during).copy(pending = Vector(found(5).files.head))
    assert(!after(arrived, found(0), EndCondition.CaughtUp).isLast)
  }

  test("a restart compares a round with all files of earlier runs") {
    val begin = WatchState.begin(None, 0, newest = 1, bytes = 100, start)
    val early = read(after(begin, found(0), EndCondition.CaughtUp))
    val round = after(early, found(20), EndCondition.CaughtUp)
    assert(!early.isLast && !round.isLast && after(read(round), found(10), EndCondition.CaughtUp).isLast)
  }

  test("the only listing of a run is the last round of caughtUp, and files of it are read before the end") {
    val state = after(WatchState(), found(100), EndCondition.CaughtUp, isOnly = true)
    assert(state.isLast && !state.hasEnded && read(state).hasEnded)
    assert(!after(WatchState(), found(100), EndCondition.Quiet(Duration.ofSeconds(5)), isOnly = true).isLast)
  }

  test("a quiet folder is listed once more") {
    val quiet                                               = EndCondition.Quiet(Duration.ofSeconds(60))
    def next(state: WatchState, bytes: Long, seconds: Long) = after(state, found(bytes), quiet, seconds = seconds)
    val first                                               = next(WatchState(), 10, 0)
    val early                                               = next(first, 0, 59)
    val still                                               = next(early, 0, 60)
    assert(!early.isQuiet && still.isQuiet && !still.isLast)
    assert(next(still, 7, 70).isLast)
    assert(!next(next(early, 5, 60), 0, 119).isQuiet && next(next(early, 5, 60), 0, 120).isQuiet)
  }

  test("a listing that begins after the file of endWhen exists is the last one") {
    val marker = EndCondition.Marker("_DONE")
    val state  = after(WatchState(), found(10), marker)
    assert(!state.isLast && after(state, found(5), marker, isMarked = true).isLast)
  }

  test("quiet and file do not hold while a file is too young, and a batch ends without that file") {
    val marker = EndCondition.Marker("_DONE")
    val young  = found(0).copy(young = 1, youngBytes = 5)
    val first  = read(after(WatchState(), found(10), marker))
    val quiet  = WatchState(isQuiet = true)
    assert(!after(first, young, marker, isMarked = true).isLast &&
      after(first, found(0), marker, isMarked = true).isLast)
    assert(!after(quiet, young, EndCondition.Quiet(Duration.ZERO)).isLast)
    val batch = WatchState.Listing(first, start, isOnly = true, isFinal = true)
    assert(first.listed(young, batch, Nil, MinAge, start).isLast)
  }

  test("caughtUp ends a folder that always has young files, and reads all files of a folder that stops") {
    def young(bytes: Long, old: Long) = found(old).copy(young = 1, youngBytes = bytes)
    val begin                         = after(WatchState(), young(40, 60), EndCondition.CaughtUp)
    val all                           = read(begin)
    // The same young files are no further round.
    assert(!after(all, young(40, 0), EndCondition.CaughtUp, seconds = 299).isLast)
    val second = after(all, young(40, 0), EndCondition.CaughtUp, seconds = 300)
    assert(!second.isLast && after(read(second), young(40, 0), EndCondition.CaughtUp, seconds = 600).isLast)
    val aged = after(all, found(40), EndCondition.CaughtUp, seconds = 200)
    assert(!aged.hasEnded && after(read(aged), found(0), EndCondition.CaughtUp, seconds = 210).hasEnded)
  }

  test("a run with one listing ends the folder without its young files, unless no file is old") {
    val young = found(0).copy(young = 1, youngBytes = 5)
    val some  =
      after(WatchState(), young.copy(files = found(10).files, newest = Some(1L)), EndCondition.CaughtUp, isOnly = true)
    assert(some.isLast && some.pending.size == 1)
    assert(!after(WatchState(), young, EndCondition.CaughtUp, isOnly = true).isLast)
    assert(after(WatchState(newest = 1), young, EndCondition.CaughtUp, isOnly = true).isLast)
  }

  test("late files are more old files than were forgotten") {
    val state            = WatchState(limit = Some(100L), forgotten = 5)
    def old(files: Long) = after(state, FolderListing(IndexedSeq.empty, 9, old = files), EndCondition.CaughtUp).late
    assert(Seq(3L, 5L, 6L).map(old) == Seq(0L, 0L, 1L))
  }
}
