// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.{Clock, Instant}

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.errors.FileErrors
import splice.files.internal.listing.Footer
import splice.files.internal.options.ReaderOptions
import splice.files.internal.split.{BlockId, FileSchemas, ListedFile, Packing}
import splice.source._
import splice.source.errors.SpliceException
import splice.source.runtime.{Jobs, ProgressMetric, SideLog}
import splice.testkit.internal.simulation.StoppingSideLog

/** Tests of an enumerator and its lists, with a folder in memory. */
final class FileEnumeratorSuite extends AnyFunSuite {

  private def file(size: Long, modified: Long = 0): ListedFile =
    ListedFile(s"/f$size", size, modified, splittable = true, InternalRow.empty)

  /** Folder that is read with one option of the format. */
  final private class Folder(var files: Seq[ListedFile], option: String = "a") extends FileStorage {
    var listings = 0
    var footers  = 0

    private val reader = ReaderOptions(SortedMap("option" -> option))

    override def list(context: EnumeratorContext): FileList = {
      listings += 1
      new FileList(FileSchemas.empty, Packing(100, 0, 1), files.toIndexedSeq, reader)
    }

    override def difference(list: FileList): Option[SpliceException] = list.reader.difference(reader).map {
      case (name, before, now) => FileErrors.readerOptionChanged(name, before, now)
    }

    override def footers(files: Seq[ListedFile], jobs: Jobs): Option[Seq[Either[String, Footer]]] = {
      footers += 1
      Some(Seq(Right(Footer(7, Map.empty, Set.empty))))
    }

    override def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory = new SplitReaderFactory {
      override def columnar: Boolean                                = true
      override def rows(task: TaskRanges): SplitReader[InternalRow] = throw new UnsupportedOperationException
    }
  }

  private def start(folder: Folder, log: SideLog = new MemorySideLog): FileEnumerator =
    new FileEnumerator(
      folder,
      Limits.NotSet,
      EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "test")
    )

  private def at(files: Int, partly: ((Int, Long), Long)*): FilesPosition =
    FilesPosition(files, SortedMap.from(partly.map { case ((file, start), rows) => BlockId(file, start) -> rows }))

  private def condition(body: => Any): String = intercept[SpliceException](body).getCondition

  test("the progress has the read files, the unread files, and the bytes of unread files and blocks") {
    val run                        = start(new Folder(Seq(file(30), file(250), file(20))))
    val _                          = run.start(StartPosition.Configured)
    def figures(at: FilesPosition) =
      Seq(ProgressMetric.Position, ProgressMetric.Splits, ProgressMetric.BytesBehind).map(run.figures(at))
    assert(figures(at(0)) == Seq("0 of 3 files", "3", "300"))
    assert(figures(at(2, (1, 100L) -> 7L, (1, 200L) -> 0L)) == Seq("1 of 3 files", "2", "170"))
    assert(figures(at(3)) == Seq("3 of 3 files", "0", "0"))
  }

  test("the end exists after all blocks are read, and has the minimum and maximum modification time") {
    val run = start(new Folder(Seq(file(150, modified = 2000), file(20, modified = 1000), file(30, modified = 3000))))
    val _   = run.start(StartPosition.Configured)
    assert(run.evidence(at(2)).isEmpty && run.evidence(at(3, (0, 100L) -> 0L)).isEmpty)
    assert(run.evidence(at(3)).flatMap(_.modificationTimes()).contains(
      TimeRange(Instant.ofEpochMilli(1000), Instant.ofEpochMilli(3000))
    ))
    val empty = start(new Folder(Nil))
    val none  = empty.start(StartPosition.Configured)
    assert(empty.evidence(none).exists(_.modificationTimes().isEmpty))
  }

  test("a batch with a partly read block is not columnar") {
    val run                             = start(new Folder(Seq(file(30), file(250), file(20))))
    val begin                           = run.start(StartPosition.Configured)
    def columnar(until: FilesPosition)  = run.readers(new StructType(), run.splits(begin, until)).columnar
    def columnarTo(from: FilesPosition) = run.readers(new StructType(), run.splits(from, at(3))).columnar
    assert(columnar(at(3)) && columnar(at(2, (1, 200L) -> 0L)))
    assert(!columnar(at(2, (1, 200L) -> 5L)) && !columnarTo(at(2, (1, 200L) -> 5L)))
  }

  test("each list is compared with the settings of the start, and no batch reads two lists") {
    val log   = new MemorySideLog
    val begin = start(new Folder(Seq(file(10), file(20))), log).start(StartPosition.Configured)
    val other = start(new Folder(Seq(file(10), file(20)), "b"), log)
    assert(other.advance(begin, Limits.Everything) == FilesPosition(2, list = 1))
    val first = start(new Folder(Nil), log)
    assert(first.splits(begin, at(1)).nonEmpty)
    assert(condition(first.splits(begin, FilesPosition(1, list = 1))) == "SPLICE_FILES_OPTION.READER_OPTION_CHANGED")
    assert(other.splits(begin, FilesPosition(1, list = 1)).nonEmpty)
    assert(condition(other.splits(at(1), FilesPosition(2, list = 1))) == "SPLICE_CHECKPOINT.OTHER_SOURCE")
  }

  test("a start without a list for its settings creates the list once, and later starts use this list") {
    val log    = new MemorySideLog
    val begin  = start(new Folder(Seq(file(10))), log).start(StartPosition.Configured)
    val folder = new Folder(Seq(file(10), file(20)), "b")
    val run    = start(folder, log)
    val again  = start(folder, log)
    Seq(run, run, again).foreach(r => assert(r.advance(begin, Limits.Everything) == FilesPosition(2, list = 1)))
    assert(folder.listings == 1)
    assert(start(new Folder(Seq(file(5)), "c"), log).advance(begin, Limits.Everything) == FilesPosition(1, list = 2))
  }

  test("a freeze keeps the current files, and does not list if a part of the list is stored") {
    val folder = new Folder(Seq(file(10)))
    val log    = new MemorySideLog
    val run    = start(folder, log)
    run.freeze()
    folder.files = Seq(file(10), file(20))
    assert(log.keys("").isEmpty)
    val begin = run.start(StartPosition.Configured)
    assert(run.advance(begin, Limits.Everything) == at(1) && folder.listings == 1)
    val crashed = new MemorySideLog
    assertThrows[IllegalStateException] {
      start(folder, new StoppingSideLog(crashed, _ == "files-end")).start(StartPosition.Configured)
    }
    folder.listings = 0
    Seq(log, crashed).foreach(start(folder, _).freeze())
    log.remove("files-00000000")
    start(folder, log).freeze()
    assert(folder.listings == 0)
  }

  test("the footers of at most 10,000 files are read") {
    val folder              = new Folder(Nil)
    def rows(files: Int)    = outlook(files).rows
    def outlook(files: Int) = {
      folder.files = (1 to files).map(n => file(n.toLong))
      start(folder).outlook()
    }
    assert(rows(10000).contains(7L) && folder.footers == 1)
    assert(rows(10001).isEmpty && folder.footers == 1 && outlook(10001).warnings.isEmpty)
    val known = outlook(3)
    assert(known.files.contains(3L) && known.bytes.contains(6L) && folder.footers == 1)
  }
}
