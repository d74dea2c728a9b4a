// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.open

import java.time.Duration

import scala.collection.mutable
import scala.util.Random

import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.source.{Limits, LogPartition, StartPosition}

/** Random scenarios of a query that alternates between open-ended and other batches. */
final class OpenStreamsLifeSuite extends OpenStreams {

  test("rows of ended batches are read once, across moves, outages, kills and other triggers") {
    (1L to 60L).foreach(seed => withClue(s"seed $seed: ")(live(new Random(seed))))
  }

  private def live(random: Random): Unit = {
    val world = both("drainTimeout" -> "1000 days", "clusterWait" -> "2s")
    val rows  = mutable.ArrayBuffer.empty[(String, Int, Long)]
    var run   = world.start()
    var now   = world.begin(StartPosition.Configured, run)

    def again(): Unit = {
      run.close()
      run = world.start()
      now = world.source.position(now.json)
    }

    def realTime(all: Boolean): Unit = {
      val settled = settle(run, now)
      val parts   = timed(run).open(settled).collect { case r: DynamicSplitRange =>
        val end  = math.min(r.range.until, world.logs(r.cluster).end(r.range.partition))
        val most = math.max(end - r.range.from, 0L).toInt
        r -> (r.range.from + (if (all) most else random.nextInt(most + 1)))
      }
      // A killed driver has logged nothing.
      if (!all && random.nextInt(5) == 0) again()
      else {
        rows ++= parts.flatMap { case (r, end) => (r.range.from until end).map((r.cluster, 0, _)) }
        val unread = parts.collect {
          case (r, end) if end < r.range.until =>
            r.copy(range = r.range.copy(from = end)(r.range.topicId, r.range.generation))
        }
        now = timed(run).reached(settled, unread)
      }
    }

    def batch(): Unit = {
      val next = run.advance(now, Limits.Limited(rows = Some(1L + random.nextInt(9))))
      rows ++= this.rows(run, now, next)
      now = next
    }

    val places = Seq(Seq(east), Seq(west), Seq(east, west))
    try {
      (0 to 30).foreach { _ =>
        random.nextInt(8) match {
          case 0 | 1 => Seq(east, west).foreach(fill(world, _, random.nextInt(5)))
          case 2     => world.publish(stream(places(random.nextInt(3)): _*))
          case 3     =>
            val cluster = if (random.nextBoolean()) east else west
            if (world.logs(cluster).away.nonEmpty) back(world, cluster) else leave(world, cluster)
          case 4 => world.clock.pass(Duration.ofSeconds(random.nextInt(20).toLong))
          case 5 => batch()
          case _ => realTime(all = false)
        }
      }
      Seq(east, west).foreach(back(world, _))
      world.publish(stream(east, west))
      val expected = Seq(east, west).flatMap(c => all(c, world.logs(c).end(LogPartition(topic(c), 0)).toInt))
      eventually {
        world.clock.pass(Duration.ofSeconds(11))
        realTime(all = true)
        assert(rows.size >= expected.size)
      }
      assert(rows.sorted == expected.sorted)
    } finally run.close()
  }
}
