// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.time.Duration

import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.internal.enumerator.{MetadataApplier, RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.source.runtime.ProgressMetric
import splice.source.{SplitEnumerator, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of cutovers at a time during which retention removes records. */
final class CutoverRetentionSuite extends RemovedTopics {

  private val minute = Duration.ofMinutes(1)

  private def fails(world: SimulatedClusters, cluster: String, fails: Boolean): Unit =
    world.logs(cluster).away = Option.when(fails)(_ => true)

  /** Runs a trigger after a pause in which requests may be repeated. */
  private def trigger(world: SimulatedClusters, run: SplitEnumerator[DynamicOffset], at: DynamicOffset) = {
    world.clock.pass(Duration.ofSeconds(11))
    advance(run, at)
  }

  private def triggers(world: SimulatedClusters, run: SplitEnumerator[DynamicOffset], at: DynamicOffset) =
    Iterator.iterate(at)(trigger(world, run, _)).drop(3).next()

  private def expire(world: SimulatedClusters, cluster: String, first: Long): Unit =
    world.logs(cluster).expire(topic(cluster), 0, first)

  /** Clusters with records before and four records from the time of a move, which is in five minutes. */
  private def moving(before: Int, options: (String, String)*): (SimulatedClusters, Place.At) = {
    val world  = simulated(options: _*)
    val time   = world.clock.instant().plus(minute.multipliedBy(5))
    val millis = time.toEpochMilli
    Seq(east, west).foreach(c => world.logs(c).write(topic(c), 0, (millis - before) to (millis + 3): _*))
    (world, Place.At(time))
  }

  /** Moves a stream at a time, and continues in another run while the cutover waits for a cluster that does not respond.
    *
    * @param wait
    *   runs triggers during which the cluster becomes unavailable and records expire
    */
  private def waitsFor(away: String)(
      wait: (SimulatedClusters, SplitEnumerator[DynamicOffset], DynamicOffset) => DynamicOffset
  ): Unit = {
    val (world, cutover) = moving(before = 2)
    val waiting          = Using.resource(world.start()) { run =>
      val first = world.begin(StartPosition.Configured, run)
      publish(world, stream(west).copy(cutover = Some(cutover)))
      val (moved, old) = readUntil(world, run, first)(reads(east, 0, 2))
      assert(old == all(east, 2))
      wait(world, run, moved)
    }
    Using.resource(world.start()) { run =>
      val at = triggers(world, run, world.source.position(waiting.json))
      assert(run.figures(at)(ProgressMetric.RowsSkipped) == "0")
      fails(world, away, fails = false)
      val (_, rest) = readUntil(world, run, at)(at => reads(west, 0, 6)(at) && !at.clusters.contains(east))
      assert(rest == all(west, 6).drop(2))
    }
  }

  test("records of the new topic before the time of a cutover are not lost, before and after the time") {
    waitsFor(east) { (world, run, moved) =>
      val settled = triggers(world, run, moved)
      expire(world, west, 1)
      val before = triggers(world, run, settled)
      assert(run.figures(before)(ProgressMetric.RowsSkipped) == "0")
      fails(world, east, fails = true)
      world.clock.pass(minute.multipliedBy(10))
      val after = triggers(world, run, before)
      expire(world, west, 2)
      triggers(world, run, after)
    }
  }

  test(
    "records of the old topic after the time of a cutover are not lost while the cutover waits for the new cluster"
  ) {
    waitsFor(west) { (world, run, moved) =>
      fails(world, west, fails = true)
      world.clock.pass(minute.multipliedBy(10))
      val before = triggers(world, run, moved)
      expire(world, east, 4)
      triggers(world, run, before)
    }
  }

  test("lost records of the old topic before the time of a cutover are reported, and no later records") {
    val (world, cutover) = moving(before = 20, "onOutOfRange" -> "earliest", "maxOffsetsPerTrigger" -> "1")
    Using.resource(world.start()) { run =>
      val first = advance(run, world.begin(StartPosition.Configured, run))
      publish(world, stream(west).copy(cutover = Some(cutover)))
      val (taken, _) = readUntil(world, run, first)(_.change > 0)
      fails(world, west, fails = true)
      world.clock.pass(minute.multipliedBy(10))
      val waiting = triggers(world, run, taken)
      val unread  = 20 - rows(run, first, waiting).size - 1
      assert(unread > 0)
      expire(world, east, 23)
      val (passed, none) = readUntil(world, run, waiting)(reads(east, 0, 20))
      assert(none.isEmpty && run.figures(passed)(ProgressMetric.RowsSkipped) == unread.toString)
      fails(world, west, fails = false)
      val (_, rest) = readUntil(world, run, passed)(at => reads(west, 0, 24)(at) && !at.clusters.contains(east))
      assert(rest == all(west, 24).drop(20))
    }
  }

  test("lost records of the new topic from the time of a cutover are reported, and no earlier records") {
    val (world, cutover) = moving(before = 20, "onOutOfRange" -> "earliest")
    Using.resource(world.start()) { run =>
      val first = world.begin(StartPosition.Configured, run)
      publish(world, stream(west).copy(cutover = Some(cutover)))
      val (taken, _) = readUntil(world, run, first)(reads(east, 0, 20))
      fails(world, east, fails = true)
      world.clock.pass(minute.multipliedBy(10))
      val waiting = triggers(world, run, taken)
      expire(world, west, 23)
      val still = triggers(world, run, waiting)
      fails(world, east, fails = false)
      val (last, rest) = readUntil(world, run, still)(at => reads(west, 0, 24)(at) && !at.clusters.contains(east))
      assert(rest == all(west, 24).drop(23) && run.figures(last)(ProgressMetric.RowsSkipped) == "3")
    }
  }

  test(
    "a move back to a topic whose read records have expired loses no record, and a warning names the expired partition"
  ) {
    val world = simulated()
    Seq(east, west).foreach(fill(world, _, 5))
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, world.begin(StartPosition.Configured, run))(reads(east, 0, 5))
      publish(world, stream(west))
      val (moved, _) = readUntil(world, run, first)(at => reads(west, 0, 5)(at) && !at.clusters.contains(east))
      val time       = world.clock.instant().plus(minute)
      publish(world, stream(east).copy(cutover = Some(Place.At(time))))
      val (waiting, _) = readUntil(world, run, moved)(_ => history(world).exists(_._1 == "topicCutoverScheduled"))
      expire(world, east, 5)
      val still  = triggers(world, run, waiting)
      val millis = time.toEpochMilli
      world.logs(east).write(topic(east), 0, millis, millis + 1)
      world.clock.pass(minute.multipliedBy(3))
      val ((_, rest), warnings) = LoggedMessages.during(classOf[MetadataApplier].getName) {
        readUntil(world, run, still)(reads(east, 0, 7))
      }
      assert(rest == all(east, 7).drop(5))
      val text = s"$east/${topic(east)} begins at $time. Retention has removed all earlier records of partitions 0"
      assert(warnings.count(_.startsWith(text)) == 1, warnings)
    }
  }
}
