// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

final class BatchChecksSuite extends AnyFunSuite {

  private val file  = OffsetFile.read("v1\n{\"batchWatermarkMs\":0}\n{\"a\":1}")
  private val epoch = OffsetFile.read("v1\n\n{\"a\":1}")

  private def content(offsets: Seq[Long], commits: Seq[Long], of: OffsetFile = file) = CheckpointContent(
    Some("id"),
    SortedMap.from(offsets.map(_ -> Right(of))),
    SortedSet.from(commits)
  )

  private def problems(of: CheckpointContent): Seq[String] = BatchChecks(of).filter(_.isProblem).map(_.where)

  test("complete logs have no finding, with and without a batch that Spark repeats") {
    assert(BatchChecks(content(0L to 3L, 0L to 3L)) == Nil)
    assert(BatchChecks(content(5L to 8L, 5L to 7L)) == Nil)
    assert(BatchChecks(content(Seq(0L), Nil)) == Nil)
  }

  test("each missing file is a problem") {
    assert(problems(content(Seq(0, 1, 3), 0L to 3L)) == Seq("offsets/2"))
    assert(problems(content(0L to 2L, 0L to 3L)) == Seq("offsets/3"))
    assert(problems(content(0L to 3L, Seq(0, 2, 3))) == Seq("commits/1"))
    assert(problems(content(0L to 3L, 0L to 1L)) == Seq("commits/2"))
    assert(problems(content(Seq(0L), Seq(0L)).copy(query = None)) == Seq("metadata"))
  }

  test("a commit before the first offset has no finding, because a kill may leave it there") {
    assert(BatchChecks(content(1L to 3L, 0L to 3L)) == Nil)
  }

  test("an unreadable last commit, and a file without the line of a source, are problems") {
    val two  = OffsetFile.read("v1\n{\"batchWatermarkMs\":0}\n{\"a\":1}\n{\"b\":1}")
    val good = content(0L to 1L, 0L to 1L, two)
    assert(problems(good.copy(damagedCommit = Some(1))) == Seq("commits/1"))
    assert(problems(good.copy(offsets = good.offsets.updated(0L, Right(file)))) == Seq("offsets/0"))
  }

  test("batches that are in neither log are a note, because asynchronous progress tracking skips batches") {
    val found = BatchChecks(content(Seq(0, 3, 6), Seq(0, 3, 6)))
    assert(found.map(_.where) == Seq("offsets/1", "offsets/2", "offsets/4", "offsets/5"))
    assert(!found.exists(_.isProblem))
  }

  test("several epochs of continuous mode may have no commit") {
    assert(problems(content(0L to 3L, 0L to 1L, epoch)) == Nil)
  }

  test("unreadable files and offsets are problems") {
    val good = content(0L to 1L, 0L to 1L)
    assert(problems(good.copy(offsets = good.offsets.updated(1L, Left("checksum")))) == Seq("offsets/1"))
    val text = OffsetFile.read("v1\n{}\n{\"a\":")
    assert(problems(good.copy(offsets = good.offsets.updated(0L, Right(text)))) == Seq("offsets/0"))
  }
}
