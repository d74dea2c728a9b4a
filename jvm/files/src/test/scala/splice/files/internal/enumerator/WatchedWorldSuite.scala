// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.io.IOException
import java.time.{Clock, Duration, Instant, ZoneId}

import scala.collection.mutable
import scala.util.Random
import scala.util.control.ControlThrowable

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.errors.FileErrors
import splice.files.internal.options.EndCondition
import splice.files.internal.settings.WatchSettings
import splice.files.internal.split.{FileRange, FileSchemas, ListedFile, Packing}
import splice.files.internal.watch._
import splice.source._
import splice.source.errors.SpliceException
import splice.source.internal.polling.{PollHealth, Poller}
import splice.source.options.FailOrWarn
import splice.source.runtime.SideLog

/** Simulated folders that grow while queries read them, with listings that fail and drivers that are killed at each
  * write of the side log. The oracle keeps every path.
  */
final class WatchedWorldSuite extends AnyFunSuite {

  import WatchedWorldSuite._

  private val met = mutable.Map.empty[String, Int].withDefaultValue(0)

  private def run(seed: Int): Unit = {
    val world = new World(seed, what => met(what) += 1)
    try world.live()
    catch { case e: Throwable => throw new AssertionError(s"seed $seed: ${e.getMessage}", e) }
  }

  test("each file that a listing can see is read once, and files are late only beyond the limit") {
    (1 to Worlds).foreach(run)
    val rare = Situations.filter(met(_) < 50).map(what => s"$what: ${met(what)}")
    assert(rare.isEmpty)
  }
}

private object WatchedWorldSuite {

  private val Worlds = 600

  private val Situations = Seq(
    "killed before a write",
    "killed after a write",
    "killed after the offset",
    "listing failed",
    "files of equal times",
    "clock set back",
    "file of the future",
    "file is renamed",
    "file is deleted",
    "more files than the limit",
    "late file",
    "segments merged",
    "folder ended",
    "ended while files arrive",
    "run with one listing",
    "batch read again"
  )

  final private class Killed extends ControlThrowable

  /** @param found true if a listing had the file as a new file */
  final private case class Stored(modified: Long, length: Long, seen: Boolean = false, found: Boolean = false)

  final private class World(seed: Int, note: String => Unit) {

    // The first values of consecutive seeds are similar.
    private val random = new Random(new Random(seed).nextLong())

    private val most    = if (random.nextBoolean()) 1000000 else 5 + random.nextInt(40)
    private val horizon = Duration.ofSeconds(20L + random.nextInt(200))
    private val endWhen =
      if (random.nextInt(3) == 0) Seq(EndCondition.CaughtUp) else Nil
    private val maxFiles     = Option.when(random.nextBoolean())(1 + random.nextInt(7))
    private val segmentFiles = 1 + random.nextInt(6)

    private var now   = Instant.parse("2026-11-01T00:00:00Z")
    private val files = mutable.LinkedHashMap.empty[String, Stored]
    private var fails = false
    private var names = 0
    private val log   = new MemorySideLog
    private var kill  = Option.empty[(Int, Boolean)]

    // Offsets as Spark logs them, and the rows of committed batches.
    private var offsets   = Vector.empty[FilesPosition]
    private var committed = 0
    private val rows      = mutable.ArrayBuffer.empty[String]
    private val planned   = mutable.Map.empty[(FilesPosition, FilesPosition), Set[String]]
    private var newest    = Long.MinValue

    private val clock = new Clock {
      override def instant(): Instant            = now
      override def getZone: ZoneId               = ZoneId.of("UTC")
      override def withZone(zone: ZoneId): Clock = this
    }

    private object Dying extends SideLog {
      private def step[A](write: => A): A = kill match {
        case Some((0, isBefore)) =>
          kill = None
          if (!isBefore) { val _ = write }
          note(if (isBefore) "killed before a write" else "killed after a write")
          throw new Killed
        case Some((n, isBefore)) =>
          kill = Some((n - 1, isBefore))
          write
        case None => write
      }
      override def get(key: String): Option[Seq[String]]                         = log.get(key)
      override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
        log.get(key).getOrElse(step(log.getOrCreate(key)(decide)))
      override def keys(prefix: String): Seq[String] = log.keys(prefix)
      override def remove(key: String): Unit         = {
        note("segments merged")
        step(log.remove(key))
      }
      override def scope(name: String): SideLog = log.scope(name)
      override def folder(name: String): Path   = log.folder(name)
    }

    private def add(path: String, modified: Long): Unit = files(path) = Stored(modified, 1L + random.nextInt(9))

    private def arrive(): Unit = {
      val at = random.nextInt(12) match {
        case 0 =>
          note("file of the future")
          Instant.parse("2099-01-01T00:00:00Z").toEpochMilli
        case 1 => now.toEpochMilli - random.nextInt(400000)
        case 2 =>
          note("files of equal times")
          files.values.headOption.fold(now.toEpochMilli)(_.modified)
        case _ => now.toEpochMilli - random.nextInt(1000)
      }
      names += 1
      add(s"/lake/$names", at)
    }

    private object Lister extends FolderLister {
      override def schemas: Option[FileSchemas]  = Some(FileSchemas.empty)
      override def exists(name: String): Boolean = false
      override def batch: Option[Long]           = None
      override def waiting: Option[Long]         = None

      override def list(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing = {
        if (fails) {
          note("listing failed")
          throw new IOException("the storage is not available")
        }
        val listed    = files.toSeq
        val (old, in) = listed.partition { case (_, file) => limit.exists(file.modified < _) }
        val fresh     = in.filter { case (path, file) =>
          known.compare(SeenFile(path, file.modified, file.length)) match {
            case KnownFiles.New  => true
            case KnownFiles.Same => false
            case changed         => throw new AssertionError(s"$path is $changed")
          }
        }
        if (limit.nonEmpty) note("more files than the limit")
        listed.foreach { case (path, file) => files(path) = file.copy(seen = true) }
        fresh.foreach { case (path, file) => files(path) = file.copy(seen = true, found = true) }
        newest = (listed.map(_._2.modified) :+ newest).max
        val found = fresh.map { case (path, file) =>
          ListedFile(path, file.length, file.modified, splittable = true, InternalRow.empty)
        }
        FolderListing(
          found.sortBy(file => (file.modified, file.path)).toIndexedSeq,
          listed.size.toLong,
          old.size.toLong,
          newest = listed.map(_._2.modified).maxOption
        )
      }
    }

    private object Watched extends WatchedStorage {
      override val watch: WatchSettings = WatchSettings(
        Duration.ofSeconds(10),
        Duration.ofDays(999),
        Duration.ZERO,
        None,
        None,
        Some(horizon),
        FailOrWarn.Warn,
        endWhen
      )
      private def error(text: String): SpliceException = throw new AssertionError(text)

      override val policies: WatchPolicies =
        WatchPolicies(
          FailOrWarn.Fail,
          file => error(s"$file is changed"),
          FileErrors.lateFiles(_, _, most, identity)
        )
      override def mostKnown: Int                                    = most
      override def mostFiles: Int                                    = segmentFiles
      override def lister(stored: Option[FileSchemas]): FolderLister = Lister
      override def segment(
          files: IndexedSeq[ListedFile],
          last: Option[FileList],
          lister: FolderLister,
          context: EnumeratorContext
      ): FileList = new FileList(FileSchemas.empty, Packing(100, 0, 1), files)
      override def rejectEmpty(context: EnumeratorContext): Unit         = ()
      override def failed(since: Instant, e: Throwable): SpliceException = error(s"failed: $e")
      override def poller(name: String, pause: => Duration, context: EnumeratorContext)(
          list: => Unit
      ): Poller = {
        poll = () => list
        new Poller {
          override def begin(): Unit      = ()
          override def health: PollHealth = PollHealth()
          override def close(): Unit      = ()
        }
      }
    }

    private var poll: () => Unit = () => ()

    private object Storage extends FileStorage {
      override def list(context: EnumeratorContext): FileList = throw new AssertionError("no list")
      override def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory =
        throw new AssertionError("no readers")
      override def watched: Option[WatchedStorage] = Some(Watched)
    }

    private def read(run: FileEnumerator, from: FilesPosition, until: FilesPosition): Set[String] = {
      val blocks = run.splits(from, until).flatMap { case range: FileRange => range.blocks }
      val paths  = blocks.map(_.path)
      assert(paths.distinct.size == paths.size, paths)
      val before = planned.getOrElseUpdate((from, until), paths.toSet)
      assert(before == paths.toSet, s"$from to $until: $before is now $paths")
      paths.toSet
    }

    private def commit(run: FileEnumerator): Unit = {
      val from = offsets.lift(committed - 1)
      val at   = offsets(committed)
      from.foreach(from => rows ++= read(run, from, at))
      committed += 1
      run.committed(at)
      // Spark keeps the last three batches.
      offsets.lift(committed - 4).foreach(run.retain)
    }

    /** One run of the query. Returns when it is killed or has ended. */
    private def life(steps: Int, isOnly: Boolean, mayDie: Boolean = true): Unit = {
      val context = EnumeratorContext(Dying, ReadMode.Stream, clock, 2, "test")
      val run     = new FileEnumerator(Storage, Limits.Limited(files = maxFiles), context)
      poll = () => ()
      if (isOnly) {
        note("run with one listing")
        run.freeze()
      }
      if (offsets.isEmpty) offsets = Vector(run.start(StartPosition.Configured))
      if (committed == 0) commit(run)
      var left = steps
      if (committed < offsets.size) {
        note("batch read again")
        commit(run)
      }
      while (left > 0) {
        left -= 1
        if (!isOnly) happen()
        val from  = offsets.last
        val until = run.advance(from, run.limits(from))
        if (until != from) {
          offsets :+= until
          // Spark keeps each batch until its commit.
          if (mayDie && random.nextInt(20) == 0) {
            note("killed after the offset")
            throw new Killed
          }
          commit(run)
        } else if (isOnly || run.evidence(from).nonEmpty) left = 0
      }
    }

    private def happen(): Unit = random.nextInt(10) match {
      case 0 | 1 | 2 => (0 to random.nextInt(4)).foreach(_ => arrive())
      case 3         =>
        val read = rows.toSet
        files.keys.find(read).foreach { path =>
          files -= path
          note("file is deleted")
        }
      case 4 =>
        val read = rows.toSet
        files.keys.find(read).foreach { path =>
          val file = files(path)
          files -= path
          names += 1
          files(s"/lake/renamed-$names") = file.copy(seen = false, found = false)
          note("file is renamed")
        }
      case 5 => fails = random.nextInt(3) == 0
      case 6 =>
        if (random.nextInt(4) == 0) {
          now = now.minusSeconds(random.nextInt(100).toLong)
          note("clock set back")
        } else now = now.plusSeconds(random.nextInt(60).toLong)
      case 7 => kill = Some((random.nextInt(3), random.nextBoolean()))
      case _ =>
        try poll()
        catch { case _: IOException => () }
    }

    private def ended: Boolean = new FileListEntries(log).isClosed

    def live(): Unit = {
      (0 to random.nextInt(5)).foreach(_ => arrive())
      (1 to 12).foreach { _ =>
        try life(10 + random.nextInt(30), isOnly = random.nextInt(4) == 0)
        catch {
          case _: Killed      => ()
          case _: IOException => fails = false
        }
      }
      // The last run lists the files that exist, and nothing else happens.
      fails = false
      kill = None
      if (ended) note("folder ended")
      if (ended && files.exists(!_._2.seen)) note("ended while files arrive")
      val wasEnded = ended
      life(10000, isOnly = true, mayDie = false)
      assert(rows.distinct.size == rows.size, s"read twice: ${rows.diff(rows.distinct)}")
      if (!wasEnded) {
        val limit   = math.min(newest, now.plusSeconds(300 + 2000).toEpochMilli) - horizon.toMillis
        val missing = files.filter { case (path, _) => !rows.contains(path) }
        missing.foreach { case (path, file) =>
          note("late file")
          assert(
            !file.found && rows.size + missing.size > most && file.modified < limit,
            s"$path with $file is not read"
          )
        }
      } else {
        // A listing before the end could not see the other files.
        files.filter(_._2.seen).foreach { case (path, file) =>
          assert(rows.contains(path) || rows.size > most, s"$path with $file is not read, of ${rows.size} files")
        }
      }
      val seen = log.keys("seen-").size
      assert(seen <= 20, s"$seen entries")
    }
  }
}
