// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.split.BlockId
import splice.source.errors.SpliceException

/** Tests of the JSON and the order of positions. */
final class FilesPositionSuite extends AnyFunSuite {

  private def at(files: Int, partly: ((Int, Long), Long)*): FilesPosition =
    FilesPosition(files, SortedMap.from(partly.map { case ((file, start), rows) => BlockId(file, start) -> rows }))

  private def condition(json: String): String = intercept[SpliceException](FilesPosition.read(json)).getCondition

  test("the JSON is short and sorted, and equal positions have equal JSON") {
    assert(FilesPosition(Int.MaxValue).json == """{"files":2147483647,"v":1}""")
    val several = at(240, (239, 0L) -> 0L, (238, 1000L) -> 7L, (238, 200L) -> Long.MaxValue)
    assert(several.json == """{"files":240,"partly":{"238:200":9223372036854775807,"238:1000":7,"239:0":0},"v":1}""")
    Seq(FilesPosition.Start, FilesPosition(7), several).foreach { position =>
      assert(FilesPosition.read(position.json) == position)
      assert(FilesPosition.read(position.json).json == position.json)
    }
    assert(FilesPosition.read("""{"v":1, "partly":{"1:5":2,"0:9":1}, "files":2}""") ==
      at(2, (0, 9L) -> 1L, (1, 5L) -> 2L))
    assert(FilesPosition.read("""{"files":2,"partly":{},"v":1}""").json == """{"files":2,"v":1}""")
    val ofAnother = at(2, (0, 9L) -> 1L).copy(list = 3)
    assert(ofAnother.json == """{"files":2,"list":3,"partly":{"0:9":1},"v":1}""")
    assert(FilesPosition.read(ofAnother.json) == ofAnother)
    assert(FilesPosition.read("""{"files":2,"list":0,"v":1}""").json == """{"files":2,"v":1}""")
  }

  test("newer, foreign or corrupt JSON is rejected") {
    assert(condition("""{"files":1,"v":2}""") == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    Seq("""{"orders":{"0":5}}""", """{"files":1}""", """{"files":1,"of":2,"v":1}""", """{"files":1,"v":"1"}""", "{}")
      .foreach(text => assert(condition(text) == "SPLICE_CHECKPOINT.OTHER_SOURCE", text))
    val blocks =
      Seq("[]", "7", """{"2:0":0}""", """{"1:-5":0}""", """{"-1:5":0}""", """{"1:05":0}""", """{"1:+5":0}""") ++
        Seq("""{"1":0}""", """{"1:5:0":0}""", """{"1:5":-1}""", """{"1:5":"2"}""", """{"1:5":1.5}""", """{"1:5:":0}""")
    (blocks.map(b => s"""{"files":2,"partly":$b,"v":1}""") ++
      Seq("""{"files":1,"list":-1,"v":1}""", """{"files":1,"list":"1","v":1}""") ++
      Seq("""{"files":-1,"v":1}""", """{"files":2147483648,"v":1}""", """{"files":"1","v":1}""", """{"files":1,"v"""))
      .foreach(text => assert(condition(text) == "SPLICE_CHECKPOINT.CORRUPT", text))
  }

  test("a position precedes every position that includes all its read rows") {
    val chain = Seq(
      FilesPosition.Start,
      at(1, (0, 0L)   -> 0L, (0, 100L) -> 0L),
      at(1, (0, 0L)   -> 5L, (0, 100L) -> 0L),
      at(1, (0, 100L) -> 3L),
      at(3, (0, 100L) -> 3L, (2, 0L)   -> 0L),
      at(3, (0, 100L) -> 4L),
      FilesPosition(3),
      at(4, (3, 0L) -> 1L),
      FilesPosition(5)
    )
    for {
      i <- chain.indices
      j <- chain.indices
    } assert(chain(i).precedes(chain(j)) == (i <= j), s"${chain(i)} and ${chain(j)}")
    assert(!at(1, (0, 0L) -> 0L).precedes(at(1, (0, 100L) -> 0L)))
    assert(FilesPosition.Start.precedes(FilesPosition(0, list = 1)) &&
      FilesPosition.Start.precedes(FilesPosition(7, list = 2)))
    assert(!FilesPosition(0, list = 1).precedes(FilesPosition.Start) &&
      !FilesPosition(1).precedes(FilesPosition(7, list = 1)))
    assert(!at(1, (0, 0L) -> 2L, (0, 100L) -> 1L).precedes(at(1, (0, 0L) -> 1L, (0, 100L) -> 2L)))
  }

  test("a file with unread blocks does not count as a whole file") {
    assert(FilesPosition(7).wholeFiles == 7)
    assert(at(7, (6, 0L) -> 0L, (6, 100L) -> 0L, (2, 0L) -> 1L).wholeFiles == 5)
  }
}
