// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.{Clock, Duration, Instant, ZoneOffset}

import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.errors.FileErrors
import splice.files.internal.options.EndCondition
import splice.files.internal.settings.WatchSettings
import splice.files.internal.split.{FileSchemas, ListedFile}
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn
import splice.testkit.LoggedMessages

/** Tests of the listings of a watched folder: their policies, and which folders they list. */
final class WatcherSuite extends AnyFunSuite {

  private val start = Instant.parse("2026-11-01T00:00:00Z")

  /** Lister with given results. */
  private class Results(listings: FolderListing*) extends FolderLister {
    var full: Seq[Boolean] = Nil

    override def list(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing = {
      full :+= isFull
      listings(math.min(full.size, listings.size) - 1)
    }
    override def exists(name: String): Boolean = false
    override def batch: Option[Long]           = None
    override def waiting: Option[Long]         = None
    override def schemas: Option[FileSchemas]  = None
  }

  private def watcher(
      lister: FolderLister,
      onLate: FailOrWarn = FailOrWarn.Warn,
      onChanged: FailOrWarn = FailOrWarn.Fail,
      endWhen: Seq[EndCondition] = Nil,
      state: WatchState = WatchState(),
      late: (Long, Instant) => SpliceException = FileErrors.lateFiles(_, _, 5, identity)
  ): Watcher = {
    val settings = WatchSettings(
      Duration.ofSeconds(10),
      Duration.ofMinutes(10),
      Duration.ZERO,
      Some("day"),
      Some(Duration.ofHours(1)),
      Some(Duration.ofDays(7)),
      onLate,
      endWhen
    )
    val policies = WatchPolicies(
      onChanged,
      file => FileErrors.listedFileChanged(file.path, file.previous, file.current, identity),
      late
    )
    val clock = Clock.fixed(start, ZoneOffset.UTC)
    new Watcher(lister, settings, policies, new KnownFiles, state, clock, clock, isFinal = false, most = 5)
  }

  private def conditions(watcher: Watcher): Option[String] =
    try {
      watcher.check()
      None
    } catch { case e: SpliceException => Some(e.getCondition) }

  private def warnings(body: => Any): Seq[String] = LoggedMessages.during(classOf[Watcher].getName)(body)._2

  test("files that are older than forgotten files are a warning or an error") {
    val condition         = "SPLICE_FILES_DATA.LATE_FILES"
    val begin             = WatchState(limit = Some(1000L), forgotten = 2)
    def old(files: Long*) = new Results(files.map(n => FolderListing(IndexedSeq.empty, n, old = n)): _*)
    val warns             = watcher(old(2, 3, 3, 5), state = begin)
    val logged            = warnings((1 to 4).foreach(_ => warns.list()))
    assert(logged.size == 2 && logged.forall(_.contains(condition)) && logged.last.contains("At least 3 files"))
    assert(conditions(warns).isEmpty && warns.now.late == 3)
    val fails = watcher(old(3), FailOrWarn.Fail, state = begin)
    fails.list()
    assert(conditions(fails).contains(condition))
  }

  test("a file that was changed is an error, or a warning once") {
    val changed = FolderListing.ChangedFile("/lake/a", 20L, 7L, KnownFiles.Changed(10L, 5L))
    def lister  =
      new Results(FolderListing(IndexedSeq.empty, 1, changed = Seq(changed)), FolderListing(IndexedSeq.empty, 1))
    val fails = watcher(lister)
    fails.list()
    assert(conditions(fails).contains("SPLICE_FILES_DATA.LISTED_FILE_CHANGED"))
    val warns  = watcher(lister, onChanged = FailOrWarn.Warn)
    val logged = warnings((1 to 2).foreach(_ => warns.list()))
    assert(logged.size == 1 && logged.head.contains("/lake/a") && conditions(warns).isEmpty && warns.now.changed == 1)
  }

  test("young files that are later than the clock are a warning when their number grows") {
    val ahead   = Seq(Some(1 -> "/lake/a"), Some(1 -> "/lake/a"), Some(2 -> "/lake/a"), None, Some(1 -> "/lake/b"))
    val results = new Results(ahead.map(found => FolderListing(IndexedSeq.empty, 0, young = 1, ahead = found)): _*)
    val later   = watcher(results)
    val logged  = warnings(ahead.foreach(_ => later.list()))
    assert(logged.size == 2 && Seq("1 files", "2 files").zip(logged).forall { case (text, warning) =>
      warning.contains(text) && warning.contains("minFileAge")
    })
  }

  test("the first listing, and a listing that may be the last one, have all folders") {
    def file(n: Int) = ListedFile(s"/f$n", 1000L, 0, splittable = true, InternalRow.empty)
    val partial      = new Results(FolderListing(IndexedSeq(file(1)), 1), FolderListing(IndexedSeq.empty, 1))
    val endless      = watcher(partial)
    (1 to 3).foreach(_ => endless.list())
    assert(partial.full == Seq(true, false, false))
    val whole  = new Results(FolderListing(IndexedSeq(file(1)), 1), FolderListing(IndexedSeq.empty, 1))
    val rounds = watcher(whole, endWhen = Seq(EndCondition.CaughtUp))
    (1 to 2).foreach(_ => rounds.list())
    rounds.stored(1)
    rounds.read()
    rounds.list()
    assert(whole.full == Seq(true, false, true) && rounds.now.isLast)
  }

  test("a run ends if it has lost the files of a listing") {
    val lost  = FolderListing(IndexedSeq(ListedFile("/a", 1L, 0, splittable = true, InternalRow.empty)), 1, old = 1)
    val state = WatchState(limit = Some(1000L))
    val run   = watcher(new Results(lost), state = state, late = (_, _) => throw new IllegalStateException("no memory"))
    assertThrows[IllegalStateException](run.list())
    assert(run.hasFailed && intercept[IllegalStateException](run.check()).getMessage == "no memory")
  }

  test("a folder that ends without young files is a warning with their number") {
    val young = FolderListing(IndexedSeq.empty, 1, young = 7, youngBytes = 1, newest = Some(1))
    val run   = watcher(new Results(young), endWhen = Seq(EndCondition.CaughtUp))
    run.once()
    val logged = warnings(run.list())
    assert(run.now.isLast && logged.size == 1 && logged.head.contains("without 7 files"))
  }

  test("a listing that fails at the start of a run does not make the next listing immediate") {
    val fails = watcher(new Results() {
      override def list(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing =
        throw new IllegalStateException("the storage is not available")
    })
    assert(fails.pause.isZero)
    assertThrows[IllegalStateException](fails.list())
    assert(fails.pause == Duration.ofSeconds(10))
  }
}
