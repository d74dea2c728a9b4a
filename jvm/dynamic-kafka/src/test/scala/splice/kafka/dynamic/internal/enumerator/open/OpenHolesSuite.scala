// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.open

import scala.collection.immutable.SortedMap

import splice.source.{LogPartition, OffsetRanges, StartPosition}

/** Tests of holes of a history in open-ended batches of many clusters. */
final class OpenHolesSuite extends OpenStreams {

  /** The history has 20 offsets of east without [2, 4). */
  private def holes = SortedMap(LogPartition(topic(east), 0) -> OffsetRanges(20, Vector(2L -> 4L)))

  test("holes of a history are read up to the stop of their stream") {
    val world = both()
    Seq(east, west).foreach(fill(world, _, 20))
    val p = Seq(east, west).map(c => LogPartition(topic(c), 0))
    in(world) { run =>
      val starts = SortedMap(p(0) -> OffsetRanges(10, Vector(2L -> 4L, 6L -> 8L)), p(1) -> OffsetRanges(15))
      val begin  = world.begin(StartPosition.Offsets(starts), run)
      val first  = settle(run, begin)
      assert(planned(run, first) == Set((east, 0, 2L, 8L), (east, 0, 10L, -1L), (west, 0, 15L, -1L)))
      val reached = reach(run, first)(east -> 3L, west -> 15L)
      publish(world, stopped(offsets(east -> 7L, west -> 16L), east, west))
      assert(planned(run, settle(run, reached)) == Set((east, 0, 3L, 7L), (west, 0, 15L, 16L)))
    }
  }

  test("a drain ends after the holes of a history if the history has the other records up to its end") {
    val world = simulated("cutover" -> "stream")
    Seq(east, west).foreach(fill(world, _, 20))
    in(world) { run =>
      val first = settle(run, world.begin(StartPosition.Offsets(holes), run))
      assert(planned(run, first) == Set((east, 0, 2L, 4L), (east, 0, 20L, -1L)))
      publish(world, stream(west))
      val second = settle(run, reach(run, first)(east -> 3L))
      assert(planned(run, second) == Set((east, 0, 3L, 4L)) && isStale(run))
      val third = settle(run, reach(run, second)())
      assert(planned(run, third).isEmpty && isStale(run))
      val last = settle(run, third)
      assert(planned(run, last) == Set((west, 0, 0L, -1L)) && !isStale(run))
      assert(history(world).contains("topicDrained" -> Seq(s"$east/${topic(east)}")), history(world))
    }
  }

  test("a source with an end ends after the holes of a history if the history has the other records") {
    val world = simulated("endingOffsets" -> "latest")
    fill(world, east, 20)
    in(world) { run =>
      val first = settle(run, world.begin(StartPosition.Offsets(holes), run))
      assert(planned(run, first) == Set((east, 0, 2L, 4L)))
      val end = settle(run, reach(run, first)())
      assert(planned(run, end).isEmpty && run.evidence(end).nonEmpty, end)
    }
  }

  test("a drain that has read its holes ends at the stop of its stream") {
    val world = simulated()
    fill(world, east, 20)
    in(world) { run =>
      val first = settle(run, world.begin(StartPosition.Offsets(holes), run))
      publish(world, stopped(offsets(east -> 12L), east))
      val second = settle(run, reach(run, first)(east -> 4L))
      assert(planned(run, second).isEmpty && second.json.contains(s""""$east":{"${topic(east)}":{"0":12}}"""))
      assert(settle(run, second).json != second.json && !isStale(run))
      publish(world, stream(east))
      assert(planned(run, settle(run, second)) == Set((east, 0, 20L, -1L)))
    }
  }
}
