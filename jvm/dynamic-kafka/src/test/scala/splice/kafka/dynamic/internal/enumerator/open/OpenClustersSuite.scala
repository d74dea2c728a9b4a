// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.open

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import splice.kafka.Place
import splice.kafka.dynamic.internal.enumerator.OpenClusters
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{LogPartition, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of open-ended batches of many clusters, as in real-time mode. */
final class OpenClustersSuite extends OpenStreams {

  test("an unavailable cluster is planned from its position and does not delay other clusters") {
    val world = both()
    Seq(east, west).foreach(fill(world, _, 10))
    in(world) { run =>
      val first = begun(world, run)
      assert(planned(run, first) == Set((east, 0, 0L, -1L), (west, 0, 0L, -1L)))
      val end = reach(run, first)(east -> 4L, west -> 2L)
      assert(end.json ==
        s"""{"change":0,"clusters":{"$east":{"${topic(east)}":{"0":4}},"$west":{"${topic(west)}":{"0":2}}},"v":1}""")
      leave(world, west)
      val second = settle(run, end)
      assert(planned(run, second) == Set((east, 0, 4L, -1L), (west, 0, 2L, -1L)) && !isStale(run))
      // No task has read a row of the cluster, or has sent its unread ranges.
      val third = settle(run, reach(run, second)(east -> 10L))
      assert(planned(run, third) == Set((east, 0, 10L, -1L), (west, 0, 2L, -1L)))
    }
    in(world) { run =>
      // A run without any response of the cluster has the same plan.
      val position = world.source.position(s"""{"change":0,"clusters":{"$west":{"${topic(west)}":{"0":2}}},"v":1}""")
      assert(planned(run, settle(run, position))((west, 0, 2L, -1L)))
    }
  }

  test("ends of topics with open ranges are not requested") {
    val world    = both()
    val requests = mutable.Set.empty[String]
    in(world) { run =>
      val first = begun(world, run)
      Seq(east, west).foreach(c => world.logs(c).between = what => requests.synchronized(requests += what))
      val second = settle(run, reach(run, first)(east -> 0L))
      assert(planned(run, second).size == 2 && !requests.synchronized(requests("ends")), requests)
    }
  }

  test("a removed topic is read to its end while other topics have open ranges, and is then removed") {
    val world = both()
    Seq(east, west).foreach(fill(world, _, 5))
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 5L, west -> 2L)
      publish(world, stream(east))
      val second = settle(run, first)
      assert(planned(run, second) == Set((east, 0, 5L, -1L), (west, 0, 2L, 5L)) && isStale(run))
      // These records no longer belong to the stream.
      fill(world, west, 3)
      val part = settle(run, reach(run, second)(east -> 6L, west -> 4L))
      assert(planned(run, part) == Set((east, 0, 6L, -1L), (west, 0, 4L, 5L)))
      val third = settle(run, reach(run, part)(east -> 7L))
      assert(planned(run, third) == Set((east, 0, 7L, -1L)) && !isStale(run))
      assert(
        history(world).lastOption.contains("topicDrained" -> Seq(s"$west/${topic(west)}")),
        history(world)
      )
    }
  }

  test("records after the end of a drain are not lost if retention deletes them while other partitions are read") {
    val world = simulated()
    world.logs(east).create(topic(east), 2)
    Seq(0, 1).foreach(world.logs(east).fill(topic(east), _, 5))
    val begin = in(world)(world.begin(StartPosition.Configured, _))
    world.publish(stream(west))
    in(world) { run =>
      val at    = world.source.position(begin.json.replace(""""0":0,"1":0""", """"0":5,"1":3"""))
      val first = settle(run, at)
      assert(planned(run, first).filter(_._1 == east) == Set((east, 1, 3L, 5L)))
      fill(world, east, 5)
      world.logs(east).expire(topic(east), 0, 8)
      val second = settle(run, first)
      assert(planned(run, second).filter(_._1 == east) == Set((east, 1, 3L, 5L)))
      assert(run.figures(second)(ProgressMetric.RowsSkipped) == "0")
      // The stream reads the topic again from the end of the drain.
      publish(world, stream(east))
      val error = intercept[SpliceException](settle(run, second))
      assert(error.getMessage.contains(s"${topic(east)}-0 [5, 8)"), error)
    }
  }

  test("a start before rows of removed topics is rejected, and a micro-batch reads these rows") {
    val world = both()
    Seq(east, west).foreach(fill(world, _, 5))
    def position(east: Long, west: Long) = world.source.position(
      s"""{"change":0,"clusters":{"${this.east}":{"${topic(this.east)}":{"0":$east}},""" +
        s""""${this.west}":{"${topic(this.west)}":{"0":$west}}},"v":1}"""
    )
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 5L, west -> 2L)
      assert(first.json == position(5, 2).json)
      publish(world, stream(east))
      val drained = reach(run, settle(run, first))()
      assert(planned(run, settle(run, drained)) == Set((east, 0, 5L, -1L)))
    }
    def isRejected(): Unit = in(world) { run =>
      val error = intercept[SpliceException](settle(run, position(5, 2)))
      assert(error.getCondition == "SPLICE_DYNAMIC_KAFKA.ROLLBACK_NOT_SUPPORTED")
      assert(error.getMessage.contains(s": $west/${topic(west)}-0 from 2 up to 5. "), error.getMessage)
    }
    isRejected()
    // A topic that the changes do not remove is read again.
    in(world)(run => assert(planned(run, settle(run, position(4, 5))) == Set((east, 0, 4L, -1L))))
    in(world) { run =>
      val at = settle(run, position(5, 5))
      publish(world, stream(east, west))
      assert(planned(run, settle(run, at)) == Set((east, 0, 5L, -1L), (west, 0, 5L, -1L)))
    }
    isRejected()
    in(world) { run =>
      val until = advance(run, position(5, 2))
      assert(rows(run, position(5, 2), until) == all(west, 5).drop(2))
      assert(planned(run, settle(run, until)) == Set((east, 0, 5L, -1L), (west, 0, 5L, -1L)))
    }
  }

  test("a drain of an unavailable cluster waits, and delays no other cluster") {
    val world = both()
    Seq(east, west).foreach(fill(world, _, 5))
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 5L, west -> 2L)
      leave(world, west)
      publish(world, stream(east))
      val second = settle(run, first)
      assert(planned(run, second) == Set((east, 0, 5L, -1L)) && isStale(run))
      back(world, west)
      val third = until(world, run, second)((east, 0, 5L, -1L), (west, 0, 2L, 5L))
      assert(planned(run, settle(run, reach(run, third)())) == Set((east, 0, 5L, -1L)))
    }
  }

  test("the next topic of a stream is read after the drain if 'cutover' is stream, and immediately otherwise") {
    Seq("stream" -> Set((east, 0, 2L, 5L)), "together" -> Set((east, 0, 2L, 5L), (west, 0, 0L, -1L))).foreach {
      case (cutover, ranges) =>
        val world = simulated("cutover" -> cutover)
        Seq(east, west).foreach(fill(world, _, 5))
        in(world) { run =>
          val first = reach(run, begun(world, run))(east -> 2L)
          publish(world, stream(west))
          val second = settle(run, first)
          assert(planned(run, second) == ranges, cutover)
          assert(planned(run, settle(run, reach(run, second)())) == Set((west, 0, 0L, -1L)), cutover)
        }
    }
  }

  test("a cutover at a time ends the old topic and starts the new topic at the first record of that time") {
    val world = simulated()
    val time  = world.clock.instant().plusSeconds(600)
    val at    = time.toEpochMilli
    Seq(east, west).foreach(cluster => world.logs(cluster).write(topic(cluster), 0, at - 2, at - 1, at, at + 1))
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 1L)
      publish(world, stream(west).copy(cutover = Some(Place.At(time))))
      val second = settle(run, first)
      // A batch may end after the time.
      assert(planned(run, second) == Set((east, 0, 1L, 2L)) && isStale(run))
      val third = reach(run, second)()
      world.clock.pass(Duration.ofSeconds(700))
      val moved = settle(run, third)
      val last  = if (planned(run, moved).isEmpty) settle(run, moved) else moved
      assert(planned(run, last) == Set((west, 0, 2L, -1L)))
    }
  }

  test("a topic that starts at future offsets is read when its log has reached them") {
    val world = simulated()
    fill(world, east, 7)
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 3L)
      publish(world, stream(west).copy(cutover = Some(offsets(east -> 7L, west -> 4L))))
      val second = settle(run, first)
      assert(planned(run, second) == Set((east, 0, 3L, 7L)) && isStale(run))
      fill(world, west, 3)
      val third = settle(run, reach(run, second)())
      assert(planned(run, third).isEmpty && isStale(run))
      fill(world, west, 1)
      val last = settle(run, third)
      assert(planned(run, last) == Set((west, 0, 4L, -1L)) && !isStale(run))
    }
  }

  test("a topic that a document adds at future offsets is read when its log has reached them") {
    val world = simulated()
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 0L)
      publish(world, stream(east), stream(west).copy(name = "t", start = Some(offsets(west -> 4L))))
      fill(world, west, 3)
      val second = settle(run, first)
      assert(planned(run, second) == Set((east, 0, 0L, -1L)) && isStale(run))
      val third = settle(run, reach(run, second)())
      assert(planned(run, third) == Set((east, 0, 0L, -1L)) && isStale(run))
      fill(world, west, 2)
      assert(planned(run, settle(run, reach(run, third)())) == Set((east, 0, 0L, -1L), (west, 0, 4L, -1L)))
      assert(!isStale(run))
    }
  }

  test("a stop is the end of the range of its stream") {
    val world = both()
    Seq(east, west).foreach(fill(world, _, 5))
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 1L, west -> 1L)
      publish(world, stopped(offsets(east -> 4L, west -> 9L), east, west))
      val third = settle(run, first)
      assert(planned(run, third) == Set((east, 0, 1L, 4L), (west, 0, 1L, 5L)) && isStale(run))
      fill(world, west, 6)
      val fourth = settle(run, reach(run, third)())
      assert(planned(run, fourth) == Set((west, 0, 5L, 9L)))
      assert(planned(run, settle(run, reach(run, fourth)())).isEmpty && !isStale(run))
    }
  }

  test("an inactive cluster keeps its position and has no range") {
    val world = both()
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 1L, west -> 2L)
      world.inactive = Set(west)
      world.awaitRefresh()
      val second = settle(run, first)
      assert(planned(run, second) == Set((east, 0, 1L, -1L)) && !isStale(run))
      world.inactive = Set.empty
      world.awaitRefresh()
      assert(planned(run, settle(run, reach(run, second)())) == Set((east, 0, 1L, -1L), (west, 0, 2L, -1L)))
    }
  }

  test("a new document makes a batch stale, but a rejected or unchanged document does not") {
    val world = both()
    in(world) { run =>
      val first = begun(world, run)
      world.awaitRefresh()
      assert(!isStale(run))
      publish(world, stream(east, west))
      assert(!isStale(run), "only the generation differs")
      world.publish()
      eventually(assert(isStale(run)))
      val second = settle(run, reach(run, first)())
      world.awaitRefresh()
      assert(planned(run, second).size == 2 && !isStale(run), "a document without streams is rejected")
      world.publish(stream(east))
      eventually(assert(isStale(run)))
    }
  }

  test(
    "a topic on an unresponsive cluster is read when its start is determined, and earlier batches are short"
  ) {
    val world = simulated()
    Seq(east, west).foreach(fill(world, _, 5))
    leave(world, west)
    in(world) { run =>
      val first = begun(world, run)
      publish(world, stream(east, west))
      val second = settle(run, reach(run, first)(east -> 5L))
      assert(planned(run, second) == Set((east, 0, 5L, -1L)) && isStale(run))
      back(world, west)
      until(world, run, second)((east, 0, 5L, -1L), (west, 0, 0L, -1L))
      assert(!isStale(run))
    }
  }

  test("a new partition is read from the next batch on, and a run that was killed plans it again") {
    val world = both()
    val begin = in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 0L, west -> 0L)
      world.logs(west).create(topic(west), 2)
      // Simulated clusters refresh their partitions once per day.
      world.clock.pass(Duration.ofDays(1))
      val ranges = Set((east, 0, 0L, -1L), (west, 0, 0L, -1L), (west, 1, 0L, -1L))
      assert(planned(run, settle(run, first)) == ranges)
      first
    }
    in(world)(run => assert(planned(run, settle(run, world.source.position(begin.json))).contains((west, 1, 0L, -1L))))
  }

  test("a new partition without a start makes a batch stale, unless its cluster is inactive") {
    val world = both()
    in(world) { run =>
      val first = reach(run, begun(world, run))(east -> 0L, west -> 0L)
      world.logs(west).create(topic(west), 2)
      world.logs(west).leaderless = Set(LogPartition(topic(west), 1))
      world.clock.pass(Duration.ofDays(1))
      val second = settle(run, first)
      assert(planned(run, second) == Set((east, 0, 0L, -1L), (west, 0, 0L, -1L)) && isStale(run))
      world.inactive = Set(west)
      world.awaitRefresh()
      val third = settle(run, reach(run, second)())
      assert(planned(run, third) == Set((east, 0, 0L, -1L)) && !isStale(run))
      world.inactive = Set.empty
      world.logs(west).leaderless = Set.empty
      publish(world, stream(east, west))
      val last = until(world, run, reach(run, third)())((east, 0, 0L, -1L), (west, 0, 0L, -1L), (west, 1, 0L, -1L))
      assert(planned(run, last).size == 3 && !isStale(run))
    }
  }

  test("limits of clusters in the metadata are logged once, because an open-ended batch has no limit") {
    val world                                   = simulated()
    def document(clusters: KafkaCluster*): Unit = world.publish(StreamMetadata(
      Some(world.generation + 1),
      SortedMap.from(clusters.map(cluster => cluster.name -> cluster)),
      SortedMap("s" -> stream(east, west))
    ))
    def cluster(name: String) = KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$name:9092"))
    val limited               = cluster(east).copy(maxOffsetsPerTrigger = Some(7))
    document(limited, cluster(west))
    in(world) { run =>
      def warnings(body: => DynamicOffset): (DynamicOffset, Seq[String]) =
        LoggedMessages.during(classOf[OpenClusters].getName)(body)
      val (first, start) = warnings(begun(world, run))
      assert(start.size == 1 && start.head.contains(s"Cluster $east: 'maxOffsetsPerTrigger'"), start)
      val (second, none) = warnings(settle(run, reach(run, first)()))
      assert(none.isEmpty)
      document(limited, cluster(west).copy(maxBytesPerTrigger = Some(9)))
      world.awaitRefresh()
      val (_, added) = warnings(settle(run, reach(run, second)()))
      assert(added.size == 1 && added.head.contains(s"Cluster $west: 'maxBytesPerTrigger'"), added)
    }
  }

  test("a source with an end has no open range, and a cluster without a response has no range") {
    val world = both("endingOffsets" -> "latest")
    Seq(east, west).foreach(fill(world, _, 5))
    in(world) { run =>
      val first = begun(world, run)
      fill(world, east, 5)
      assert(planned(run, first) == Set((east, 0, 0L, 5L), (west, 0, 0L, 5L)))
      leave(world, west)
      val second = settle(run, reach(run, first)(east -> 2L, west -> 1L))
      assert(planned(run, second) == Set((east, 0, 2L, 5L)))
      val third = settle(run, reach(run, second)())
      assert(planned(run, third).isEmpty && isStale(run), "the next batch may read the cluster that left")
    }
  }
}
