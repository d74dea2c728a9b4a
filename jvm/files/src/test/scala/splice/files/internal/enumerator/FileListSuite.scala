// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.split.{BlockId, FileSchemas, ListedFile, Packing}
import splice.source.Limits

/** Tests of the end of a batch in a file list, and of the blocks of the list. */
final class FileListSuite extends AnyFunSuite {

  private def file(size: Long, splittable: Boolean = true) =
    ListedFile(s"/f$size", size, 0, splittable, InternalRow.empty)

  private def listOf(maxPartitionBytes: Long, files: ListedFile*) =
    new FileList(FileSchemas.empty, Packing(maxPartitionBytes, 0, 1), files.toIndexedSeq)

  private def at(files: Int, partly: ((Int, Long), Long)*): FilesPosition =
    FilesPosition(files, SortedMap.from(partly.map { case ((file, start), rows) => BlockId(file, start) -> rows }))

  private def limited(files: Option[Int] = None, bytes: Option[Long] = None) =
    Limits.Limited(files = files, bytes = bytes)

  /** Returns the position after each batch. */
  private def batches(list: FileList, limits: Limits, from: FilesPosition = FilesPosition.Start): Seq[FilesPosition] =
    Iterator.iterate(from)(list.reach(_, limits)).drop(1).takeWhile(_ != list.end).toSeq :+ list.end

  private def blocks(list: FileList, from: FilesPosition, until: FilesPosition): Seq[String] =
    list.ranges(from, until).flatMap(_.blocks).map(_.toString).sorted

  test("a batch has files up to its limits, and at least one file") {
    val list = listOf(1000, Seq(10L, 20L, 30L, 40L).map(file(_)): _*)
    def reach(from: Int, files: Option[Int], bytes: Option[Long]): String =
      list.reach(FilesPosition(from), limited(files, bytes)).json
    def position(files: Int) = FilesPosition(files).json
    assert(reach(0, None, None) == position(4))
    assert(reach(0, Some(3), None) == position(3))
    assert(reach(3, Some(Int.MaxValue), None) == position(4))
    assert(reach(0, None, Some(30)) == position(2))
    assert(reach(0, None, Some(29)) == position(1))
    assert(reach(0, None, Some(5)) == position(1))
    assert(reach(2, Some(1), Some(1000)) == position(3))
    assert(reach(4, Some(1), Some(1)) == position(4))
    assert(list.reach(FilesPosition.Start, Limits.Everything) == list.end)
    assert(list.unread(FilesPosition(1)) == 90 && list.unread(list.end) == 0)
  }

  test("a file that exceeds the limit is read by several batches, in blocks of the list") {
    val list = listOf(100, file(30), file(450), file(20), file(10))
    assert(
      batches(list, limited(bytes = Some(250))) == Seq(
        at(2, (1, 200L) -> 0, (1, 300L) -> 0, (1, 400L) -> 0),
        at(2),
        at(4)
      )
    )
    assert(list.unread(at(2, (1, 400L) -> 0L)) == 80 && list.unread(at(2, (1, 300L) -> 7L, (1, 400L) -> 0L)) == 180)
    // A batch has at least one block.
    assert(
      batches(list, limited(bytes = Some(40))) == Seq(
        at(1),
        at(2, (1, 100L) -> 0, (1, 200L) -> 0, (1, 300L) -> 0, (1, 400L) -> 0),
        at(2, (1, 200L) -> 0, (1, 300L) -> 0, (1, 400L) -> 0),
        at(2, (1, 300L) -> 0, (1, 400L) -> 0),
        at(2, (1, 400L) -> 0),
        at(2),
        at(4)
      )
    )
  }

  test("a file within the limit or a file that is not splittable is in one batch") {
    assert(batches(listOf(100, file(200), file(150)), limited(bytes = Some(250))) == Seq(at(1), at(2)))
    assert(batches(listOf(100, file(30), file(250)), limited(bytes = Some(250))) == Seq(at(1), at(2)))
    assert(batches(listOf(100, file(900, splittable = false), file(5)), limited(bytes = Some(250))) ==
      Seq(at(1), at(2)))
  }

  test("a file that an earlier batch has begun counts as a file") {
    val list = listOf(100, file(300), file(5), file(5))
    val from = at(1, (0, 200L) -> 0)
    assert(list.reach(from, limited(files = Some(1))) == at(1))
    assert(list.reach(from, limited(files = Some(2))) == at(2))
    val both = at(2, (0, 200L) -> 0, (1, 0L) -> 1)
    assert(list.reach(both, limited(files = Some(1))) == at(2, (1, 0L) -> 1))
    assert(list.reach(both, Limits.Everything) == list.end)
  }

  test("a batch reads the blocks that are missing from the next position") {
    val list = listOf(100, file(30), file(250), file(20))
    val mid  = at(2, (1, 100L) -> 0, (1, 200L) -> 0)
    assert(blocks(list, at(0), mid) == Seq("/f250:0+100", "/f30:0+30"))
    assert(blocks(list, mid, at(2, (1, 200L) -> 0)) == Seq("/f250:100+100"))
    assert(blocks(list, mid, at(3)) == Seq("/f20:0+20", "/f250:100+100", "/f250:200+50"))
    assert(blocks(list, mid, mid).isEmpty)
  }

  test("only the remaining rows of a partly read block are read") {
    val list = listOf(100, file(150), file(70))
    val from = at(1, (0, 0L) -> 5, (0, 100L) -> 0)
    assert(blocks(list, at(0), from) == Seq("/f150:0+100 rows 0 until 5"))
    assert(blocks(list, from, at(1, (0, 0L) -> 9, (0, 100L) -> 0)) == Seq("/f150:0+100 rows 5 until 9"))
    assert(
      blocks(list, from, at(2, (1, 0L) -> 2)) ==
        Seq("/f150:0+100 rows 5 until 9223372036854775807", "/f150:100+50", "/f70:0+70 rows 0 until 2")
    )
    assert(list.ranges(from, at(1, (0, 0L) -> 9, (0, 100L) -> 0)).forall(_.countsRows))
    assert(!list.ranges(at(0), at(2)).exists(_.countsRows))
  }

  test("only positions in the list are valid") {
    val list  = listOf(100, file(150), file(70, splittable = false), file(0))
    val valid = Seq(at(3), at(1, (0, 100L) -> 4), at(3, (1, 0L) -> 4, (2, 0L) -> 0))
    assert(valid.forall(list.contains))
    val invalid = Seq(at(4), at(1, (0, 50L) -> 4), at(1, (0, 200L) -> 4), at(2, (1, 100L) -> 0), at(3, (2, 100L) -> 0))
    assert(!invalid.exists(list.contains))
  }

  test("a huge file has larger blocks, which limits the length of a position") {
    val list = listOf(1L << 20, file(1L << 40))
    val next = list.reach(FilesPosition.Start, limited(bytes = Some(1L)))
    assert(next.partly.size < 10000 && next.json.length < 300000)
    assert(next.partly.keysIterator.forall(_.start % (1L << 20) == 0) && list.contains(next))
    assert(list.ranges(FilesPosition.Start, next).map(_.weight).sum + list.unread(next) == (1L << 40))
  }
}
