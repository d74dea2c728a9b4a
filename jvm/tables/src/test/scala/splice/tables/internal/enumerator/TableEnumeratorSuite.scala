// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import java.time.{Clock, Instant}

import scala.annotation.tailrec
import scala.util.Random

import org.apache.spark.sql.types.{LongType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source._
import splice.source.errors.SpliceException
import splice.source.log.Coverage
import splice.source.runtime.SideLog
import splice.tables.internal.slices.{SliceColumn, Slices}
import splice.tables.internal.split.TableRange
import splice.tables.internal.table.PinnedVersion

/** Tests of the enumerator over a table whose plans have another number of partitions at each planning. */
final class TableEnumeratorSuite extends AnyFunSuite {

  private class World(seed: Int, slices: Int) {

    val random    = new Random(seed)
    val log       = new MemorySideLog
    var described = 0

    /** Current version of the table. */
    var current = 1

    val storage: TableStorage = new TableStorage {
      override def describe(context: EnumeratorContext): TableContent = {
        described += 1
        val version = TableVersion("t", "delta", Some(current.toString), Instant.EPOCH)
        val bounds  = (1 until slices - 1).map(_.toString).toVector
        TableContent(
          PinnedVersion(version, None),
          new StructType(),
          Slices.ByColumn(SliceColumn("x", LongType), bounds)
        )
      }
      override def size(content: TableContent, from: Int, until: Int, columns: Option[StructType]): TableStorage.Size =
        TableStorage.Size(random.nextInt(5), BigInt(until - from) * 10)
      override def lastBatch(content: TableContent, query: String): Option[Long] = None
      override def after(content: TableContent): Option[StartAfterVersion]       = None
      override def readers(content: TableContent, columns: StructType, batches: Seq[(Int, Int)]): SplitReaderFactory =
        fail("no rows are read")
    }

    def run(log: SideLog = log, bytes: Option[Long] = None): TableEnumerator = new TableEnumerator(
      storage,
      Limits.Limited(bytes = bytes),
      EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "test")
    )
  }

  private def next(of: TableEnumerator, at: TablePosition): TablePosition = of.advance(at, of.limits(at))

  test("parts and slices of a batch survive restarts at any step, with other limits and other plans") {
    (1 to 300).foreach { seed =>
      val world     = new World(seed, 3 + seed % 40)
      def limited() = Some(1L + world.random.nextInt(200))
      @tailrec def read(run: TableEnumerator, at: TablePosition, all: Seq[TableRange]): Seq[TableRange] = {
        // A crash after the plan and before Spark logs the offset: the next run plans the same batch.
        val lost  = next(run, at)
        val again = world.run(bytes = limited())
        val until = next(again, at)
        assert(until == lost, s"seed $seed at $at")
        if (until == at) all
        else {
          val ranges = again.splits(at, until)
          assert(world.run().splits(at, until) == ranges && ranges.nonEmpty, s"seed $seed at $at")
          read(world.run(bytes = limited()), until, all ++ ranges)
        }
      }
      val first  = world.run(bytes = limited())
      val start  = first.start(StartPosition.Configured)
      val ranges = read(first, start, Nil)
      assert(world.run().splits(start, TablePosition(3L + seed % 40)) == ranges)
      assert(ranges.flatMap(r => r.from until r.until).distinct == (0 until 3 + seed % 40))
      assert(ranges.groupBy(r => (r.from, r.until)).forall { case (_, parts) =>
        parts.map(_.part) == parts.indices && parts.forall(_.parts == parts.size)
      })
      assert(world.described == 1)
    }
  }

  test("the version is fixed before the start position exists, so a run that only starts fixes the version") {
    val world = new World(1, 20)
    val start = world.run().start(StartPosition.Configured)
    world.current = 2
    val later = world.run()
    val end   = later.advance(start, Limits.Everything)
    assert(later.evidence(end).flatMap(_.table).flatMap(_.id).contains("1"))
  }

  test("Trigger.Once reads all slices in one batch, also after a run that planned smaller batches") {
    val world = new World(1, 20)
    val first = world.run(bytes = Some(30))
    val start = first.start(StartPosition.Configured)
    val one   = next(first, start)
    val two   = next(first, one)
    assert(start.n < one.n && one.n < two.n && two.n < 20)
    val all = world.run().advance(start, Limits.Everything)
    assert(all.n == 20 && world.run().splits(start, all).map(r => r.from).distinct.size == 3)
    assert(world.run().advance(all, Limits.Everything) == all)
  }

  test("an offset that no batch ends at is rejected") {
    val world = new World(1, 20)
    val first = world.run(bytes = Some(50))
    val start = first.start(StartPosition.Configured)
    val until = next(first, start)
    Seq(until.n - 1, 21L).foreach { n =>
      val error = intercept[SpliceException](world.run().splits(start, TablePosition(n)))
      assert(error.getCondition.startsWith("SPLICE_CHECKPOINT."), n)
    }
  }

  test("entries of batches before the oldest batch of Spark are removed") {
    val world = new World(1, 20)
    val first = world.run(bytes = Some(50))
    val start = first.start(StartPosition.Configured)
    val one   = next(first, start)
    val two   = next(first, one)
    first.retain(one)
    assert(world.log.keys("parts-").size == 1 && world.run().splits(one, two).nonEmpty)
  }

  test("slices without counts are planned again, and each slice is counted once") {
    (1 to 300).foreach { seed =>
      val world   = new World(seed, 30)
      val run     = world.run(bytes = Some(1L + world.random.nextInt(100)))
      val batches = Iterator.iterate(run.start(StartPosition.Configured))(next(run, _))
        .takeWhile(at => run.evidence(at).isEmpty).toSeq
      val end     = TablePosition(30)
      val covered = new Coverage
      val counted = batches.filter(_ => world.random.nextBoolean()).flatMap(at => run.splits(at, next(run, at)))
      counted.flatMap(_.extents).foreach(covered.add)
      val rest = run.remaining(end, covered)
      assert(!rest.flatMap(_.extents).exists(covered.overlaps))
      rest.flatMap(_.extents).foreach(covered.add)
      assert(run.remaining(end, covered).isEmpty, seed)
      val slices = (counted ++ rest).map(r => r.from -> r.until).distinct.flatMap { case (a, b) => a until b }
      assert(slices.sorted == (0 until 30), seed)
    }
  }

  test("the evidence has the version of the table") {
    val world = new World(1, 4)
    val run   = world.run()
    val start = run.start(StartPosition.Configured)
    assert(run.evidence(start).isEmpty)
    val end = run.evidence(next(run, start)).get
    assert(end.table.flatMap(_.id).contains("1") && end.modificationTimes().map(_.last).contains(Instant.EPOCH))
  }
}
