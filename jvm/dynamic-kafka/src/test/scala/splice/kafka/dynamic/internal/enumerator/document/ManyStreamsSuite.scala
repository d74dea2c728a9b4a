// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.document

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Using

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{SimulatedClusters, TwoClusters}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeEntries}
import splice.source.StartPosition

/** Tests of documents that change thousands of streams. The limit of a test separates seconds from hours. */
final class ManyStreamsSuite extends TwoClusters {

  private val number = 8000

  private def topics(cluster: String): Seq[String] = (0 until number).map(n => f"$cluster-topic-$n%03d")

  /** Returns the state after a document changes all streams. Each stream has one topic of the first cluster before. */
  private def applied(places: String => SortedMap[String, SortedSet[String]]): AppliedMetadata = {
    val world = new SimulatedClusters(clusters = 2, topics = 1, partitions = 1)
    def publish(places: String => SortedMap[String, SortedSet[String]]): Unit =
      world.publish(topics(east).map(topic => KafkaStream(topic, places(topic))): _*)
    publish(topic => SortedMap(east -> SortedSet(topic)))
    val position = Using.resource(world.start())(world.begin(StartPosition.Configured, _))
    publish(places)
    world.clock.pass(Duration.ofHours(2))
    val run = Future(Using.resource(world.start())(run => advance(run, position)))(ExecutionContext.global)
    val _   = Await.result(run, 60.seconds)
    new ChangeEntries(world.side)(1)
  }

  test("8,000 streams that all get a topic are applied") {
    val state = applied(topic => SortedMap(east -> SortedSet(topic, s"$topic-new")))
    assert(state.streamOf.size == 2 * number)
  }

  test("8,000 streams that all move to topics of the same names on another cluster are applied") {
    val state = applied(topic => SortedMap(west -> SortedSet(topic)))
    assert(state.streamOf.keySet.forall(_.cluster == west) && state.draining.size == number)
  }
}
