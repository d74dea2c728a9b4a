// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.change.Rejection
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters, StreamGroup}
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicOffset}
import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.source.StartPosition
import splice.testkit.ReadOnlySideLog

/** Tests of a document that is compared with a checkpoint, and of the clusters that a checkpoint needs. */
final class MetadataTrialSuite extends RemovedTopics {

  private def begun(options: (String, String)*): (SimulatedClusters, DynamicOffset) = {
    val world = simulated(options: _*)
    fill(world, east, 5)
    val at = Using.resource(world.start()) { run => readAll(run, world.begin(StartPosition.Configured, run))._1 }
    (world, at)
  }

  // A write to the checkpoint would fail the trial.
  private def trial(world: SimulatedClusters, at: DynamicOffset): MetadataTrial =
    MetadataTrial.of(new ReadOnlySideLog(world.side), at)(log => world.start(log))

  private def drained(world: SimulatedClusters, at: Option[DynamicOffset], cluster: String): Option[DrainedCluster] = {
    val changes  = new ChangeEntries(new ReadOnlySideLog(world.side))
    val position =
      for (offset <- at; last <- changes.last; p <- MetadataTrial.position(world.side, offset, last)) yield p
    DrainedCluster.of(changes, position, cluster)((_, _, _) => MetadataTrial.Drain(Some(7L)))
  }

  test("a document that moves a stream adds a cluster, and drains the unread rows of the other cluster") {
    val (world, at) = begun()
    fill(world, east, 3)
    world.publish(stream(west))
    val found = trial(world, at)
    assert(found.events("clusterAdded") == Seq(west))
    assert(found.events("topicAdded") == Seq(s"$west/${topic(west)}"))
    assert(found.events("topicRemoved") == Seq(s"$east/${topic(east)}"))
    assert(found.drains == Map(ClusterTopic(east, topic(east)) -> MetadataTrial.Drain(Some(3))))
    assert(found.rejected.isEmpty && found.waiting.isEmpty && found.error.isEmpty)
    assert(trial(world, at) == found)
  }

  test("a topic without unread rows is drained at once") {
    val (world, at) = begun()
    world.publish(stream(west))
    assert(trial(world, at).drains == Map(ClusterTopic(east, topic(east)) -> MetadataTrial.Drain(Some(0))))
  }

  test("the same document causes no change") {
    val (world, at) = begun()
    val found       = trial(world, at)
    assert(found.events.isEmpty && found.drains.isEmpty && found.rejected.isEmpty)
  }

  test("an older document and a document with too many removals are rejected for the reason of the query") {
    val (world, at) = begun("maxRemovalFraction" -> "0.5")
    world.publish(world.generation - 1, stream(west))
    val older = trial(world, at).rejected
    assert(older == Seq(StreamGroup(Set.empty, Some(1L)) -> Rejection.Older(2, 1)))
    world.publish(9L)
    assert(trial(world, at).rejected.map(_._2) == Seq(Rejection.Empty(1)))
  }

  test("the unread rows of a cluster that does not respond are unknown") {
    val (world, at) = begun("clusterWait" -> "10ms")
    world.publish(stream(west))
    world.logs(east).away = Some(_ => true)
    val drains = trial(world, at).drains.values.toSeq
    assert(drains.map(_.rows) == Seq(None))
    assert(drains.flatMap(_.note).exists(_.contains("has not returned the end")))
  }

  test("the unread rows of a removed topic whose start is not determined yet are unknown") {
    val (world, at) = begun("clusterWait" -> "10ms")
    world.logs(west).away = Some(_ => true)
    world.publish(stream(east), KafkaStream("t", stream(west).topics, start = Some(Place.Earliest)))
    val next = Using.resource(world.start())(readAll(_, at)._1)
    world.publish(stream(east))
    val drains = trial(world, next).drains
    assert(drains.get(ClusterTopic(west, topic(west))).map(_.rows).contains(None))
    assert(drains.values.flatMap(_.note).exists(_.contains("has not returned the start")))
  }

  test("a policy that stops the query is the error of the comparison") {
    val (world, at) = begun("onRemoved" -> "fail")
    world.publish(stream(west))
    assert(trial(world, at).error.exists(_.getCondition == "SPLICE_DYNAMIC_KAFKA.TOPIC_REMOVED"))
  }

  test("a cluster is drained when the rows before the removal are committed") {
    val (world, at) = begun()
    assert(drained(world, Some(at), east).exists(_.open.map(o => o.state -> o.rows) == Seq("reading" -> Some(7L))))
    assert(drained(world, Some(at), "unknown").isEmpty)
    fill(world, east, 3)
    world.publish(stream(west))
    val end = Using.resource(world.start())(run => readAll(run, at)._1)
    assert(drained(world, Some(at), east).exists(_.open.map(_.rows) == Seq(Some(3L))))
    assert(drained(world, Some(end), east).exists(_.open.isEmpty))
    assert(drained(world, None, east).exists(_.open.nonEmpty))
  }
}
