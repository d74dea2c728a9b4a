// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import java.io.{FileNotFoundException, IOException, InterruptedIOException}
import java.nio.channels.ClosedByInterruptException

import scala.collection.mutable

import org.apache.hadoop.security.AccessControlException
import org.apache.spark.TaskKilledException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{InputFileBlockLength, InputFileBlockStart, InputFileName}
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.errors.FileErrors
import splice.files.internal.split.{FileBlock, FileRange, RowSpan}
import splice.source.Poll
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn
import splice.testkit.LoggedMessages

/** Tests of the blocks of one task with files in memory. */
final class BlockReaderSuite extends AnyFunSuite {

  private val strict = FilePolicy(FailOrWarn.Fail, ignoreMissing = false, ignoreCorrupt = false)

  private val broken = new IOException("the stream is broken")

  private def block(path: String, start: Long = 0, rows: Option[RowSpan] = None) =
    FileBlock(0, path, start, 10, 100, 0, InternalRow.empty, rows)

  /** Stream of a file that fails after its rows if `error` is set. */
  final private class Stream(rows: Seq[Int], error: Option[Exception]) extends Iterator[InternalRow]
      with AutoCloseable {
    private val left                 = rows.iterator
    var closed                       = 0
    override def hasNext: Boolean    = left.hasNext || error.nonEmpty
    override def next(): InternalRow = if (left.hasNext) InternalRow(left.next()) else throw error.getOrElse(broken)
    override def close(): Unit       = closed += 1
  }

  final private class Files(files: Map[String, Seq[Int]], failing: Map[String, Exception] = Map.empty) {
    val opened = mutable.ArrayBuffer.empty[Stream]

    def reader(policy: FilePolicy, blocks: FileBlock*): BlockReader[Int] =
      new BlockReader[Int](blocks.toIndexedSeq, open, _.map(_.getInt(0)), policy)

    private def open(block: FileBlock): Iterator[InternalRow] = {
      assert(opened.forall(_.closed > 0), "one stream is open at a time")
      val rows = files.getOrElse(block.path, throw new FileNotFoundException(block.path))
      opened += new Stream(rows, failing.get(block.path))
      opened.last
    }
  }

  private def rows(reader: BlockReader[Int]): Seq[Int] =
    Iterator.continually(reader.poll(Poll.Forever)).takeWhile(_ == Poll.Found).map(_ => reader.get()).toVector

  test("blocks are read in order, and each is closed before the next is opened") {
    val files  = new Files(Map("a" -> Seq(1, 2), "empty" -> Nil, "b" -> Seq(3)))
    val reader = files.reader(strict, block("a"), block("empty"), block("b"))
    assert(rows(reader) == Seq(1, 2, 3) && reader.poll(Poll.Forever) == Poll.Ended)
    reader.close()
    assert(files.opened.map(_.closed) == Seq(1, 1, 1))
  }

  test("only the rows of a span are read") {
    val files = new Files(Map("a" -> (0 until 10)), Map("a" -> broken))
    assert(rows(files.reader(strict, block("a", rows = Some(RowSpan(2, 5))))) == Seq(2, 3, 4))
  }

  test("the stream is closed if the task fails or stops early") {
    val files  = new Files(Map("a" -> Seq(1), "b" -> Seq(2, 3)), Map("a" -> broken))
    val failed = files.reader(strict, block("a"), block("b"))
    assert(failed.poll(Poll.Forever) == Poll.Found)
    assert(intercept[SpliceException](failed.poll(Poll.Forever)).getCause eq broken)
    failed.close()
    val stopped = files.reader(strict, block("b"))
    assert(stopped.poll(Poll.Forever) == Poll.Found)
    stopped.close()
    stopped.close()
    assert(files.opened.map(_.closed) == Seq(1, 1))
  }

  test("the stream is closed if a row before a span fails") {
    val files  = new Files(Map("a" -> Seq(1)), Map("a" -> broken))
    val reader = files.reader(strict, block("a", rows = Some(RowSpan(5, 9))))
    assertThrows[SpliceException](reader.poll(Poll.Forever))
    reader.close()
    assert(files.opened.map(_.closed) == Seq(1))
  }

  test("missing and corrupt files are skipped only if the options permit") {
    def files(error: Exception) = new Files(Map("a" -> Seq(1, 2), "b" -> Seq(3)), Map("a" -> error))
    val missing                 = Seq(block("none"), block("b"))
    val corrupt                 = Seq(block("a"), block("b"))
    val error = intercept[SpliceException](rows(files(broken).reader(strict.copy(ignoreCorrupt = true), missing: _*)))
    assert(error.getCondition == "SPLICE_FILES.FILE_NOT_FOUND" && error.getMessage.contains("none"))
    assert(rows(files(broken).reader(strict.copy(ignoreMissing = true), missing: _*)) == Seq(3))
    assert(rows(files(broken).reader(strict.copy(ignoreCorrupt = true), corrupt: _*)) == Seq(1, 2, 3))
    val unreadable =
      intercept[SpliceException](rows(files(broken).reader(strict.copy(ignoreMissing = true), corrupt: _*)))
    assert(unreadable.getCondition == "SPLICE_FILES_DATA.FILE_NOT_READABLE" && (unreadable.getCause eq broken))
    Seq("file a.", "the stream is broken").foreach(words => assert(unreadable.getMessage.contains(words)))
    val denied = files(new AccessControlException("denied"))
    assertThrows[AccessControlException] {
      rows(denied.reader(strict.copy(ignoreCorrupt = true, ignoreMissing = true), corrupt: _*))
    }
  }

  test("a changed file and an interrupt are not treated as corrupt files") {
    val policy  = strict.copy(ignoreMissing = true, ignoreCorrupt = true)
    val changed = FileErrors.fileChanged("a", "the length", "1", "2")
    Seq[Exception](
      changed,
      new InterruptedException("stopped"),
      new InterruptedIOException("stopped"),
      new ClosedByInterruptException,
      new TaskKilledException("stopped")
    ).foreach { e =>
      val reader = new Files(Map("a" -> Seq(1), "b" -> Seq(2)), Map("a" -> e)).reader(policy, block("a"), block("b"))
      assert(intercept[Exception](rows(reader)) eq e)
    }
  }

  test("each skipped file logs one warning with the block and the reason") {
    val files            = new Files(Map("a" -> Seq(1, 2), "b" -> Seq(3)), Map("a" -> broken))
    val policy           = strict.copy(ignoreMissing = true, ignoreCorrupt = true)
    val reader           = files.reader(policy, block("a", start = 7), block("none"), block("b"))
    val (read, warnings) = LoggedMessages.during("splice.files")(rows(reader))
    assert(read == Seq(1, 2, 3) && warnings.size == 2)
    assert(warnings(0).contains("a:7+10") && warnings(0).contains("the stream is broken"))
    assert(warnings(1).contains("none:0+10") && warnings(1).contains("FileNotFoundException"))
  }

  test("Spark's input file functions return the current block, and no block after the end") {
    def current = Seq(InputFileName(), InputFileBlockStart(), InputFileBlockLength()).map { function =>
      function.initialize(0)
      function.eval().toString
    }
    val reader = new Files(Map("a" -> Seq(1), "b" -> Seq(2))).reader(strict, block("a", 5), block("b", 7))
    val found  = Iterator.continually(reader.poll(Poll.Forever)).takeWhile(_ == Poll.Found).map(_ => current).toVector
    assert(found == Seq(Seq("a", "5", "10"), Seq("b", "7", "10")))
    reader.close()
    assert(current == Seq("", "-1", "-1"))
  }

  private def left(reader: BlockReader[Int]): Seq[(String, Option[RowSpan])] = reader.unread.map {
    case range: FileRange => range.blocks.head.path -> range.blocks.head.rows
    case other            => fail(s"$other is not a range of files")
  }

  test("the unread ranges are available before the first row and after each row") {
    val files  = new Files(Map("a" -> Seq(1, 2), "empty" -> Nil, "b" -> Seq(3, 4, 5)))
    val all    = Some(RowSpan(0, Long.MaxValue))
    val reader = files.reader(strict, block("a", rows = all), block("empty"), block("b", rows = Some(RowSpan(1, 9))))
    def next() = {
      val found = reader.poll(Poll.Forever)
      (found, left(reader))
    }
    val b = "b" -> Some(RowSpan(1, 9))
    assert(left(reader) == Seq("a" -> all, "empty" -> None, b))
    assert(next() == (Poll.Found, Seq("a" -> Some(RowSpan(1, Long.MaxValue)), "empty" -> None, b)))
    assert(next() == (Poll.Found, Seq("a" -> Some(RowSpan(2, Long.MaxValue)), "empty" -> None, b)))
    assert(next() == (Poll.Found, Seq("b" -> Some(RowSpan(2, 9)))) && reader.get() == 4)
    assert(next() == (Poll.Found, Seq("b" -> Some(RowSpan(3, 9)))))
    assert(next() == (Poll.Ended, Nil) && next() == (Poll.Ended, Nil))
  }

  test("a block with skipped rows counts as read") {
    val files  = new Files(Map("a" -> Seq(1), "b" -> Seq(3, 4)), Map("a" -> broken))
    val reader = files.reader(strict.copy(ignoreCorrupt = true), block("a"), block("b"))
    assert(reader.poll(Poll.Forever) == Poll.Found && left(reader).map(_._1) == Seq("a", "b"))
    assert(reader.poll(Poll.Forever) == Poll.Found && left(reader) == Seq("b" -> Some(RowSpan(1, Long.MaxValue))))
  }
}
