// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.settings

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.admission.AdmissionFloor
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions

/** Tests of the distribution of a batch over topics of several clusters. */
final class ClusterAdmissionRulesSuite extends AnyFunSuite {

  private def settings(more: (String, String)*): DynamicSettings =
    DynamicSettings(SourceOptions(Map("streamPattern" -> ".*", "metadata.file" -> "/streams.yaml") ++ more))

  private def stream(name: String, topics: (String, Seq[String])*): (String, KafkaStream) =
    name -> KafkaStream(name, SortedMap.from(topics.map { case (c, ts) => c -> SortedSet.from(ts) }))

  private def cluster(name: String): (String, KafkaCluster) =
    name -> KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$name:9092"))

  private val applied = AppliedMetadata.first(StreamMetadata(
    None,
    SortedMap(cluster("east"), cluster("west")),
    SortedMap(stream("orders", "east" -> Seq("a"), "west" -> Seq("a", "b")), stream("rest", "west" -> Seq("c")))
  ))

  test("weights of stream, cluster and topic are multiplied") {
    val rules = settings(
      "topicWeights"   -> """{"a":2}""",
      "streamWeights"  -> """{"orders":3}""",
      "clusterWeights" -> """{"west":5}"""
    ).admission(applied)
    assert(rules.weights == Map("east/a" -> 6.0, "west/a" -> 30.0, "west/b" -> 15.0, "west/c" -> 5.0))
  }

  test("floors apply to a topic on all clusters, to the topics of a stream, and to a whole cluster") {
    val rules = settings(
      "topicFloors"   -> """{"a":0.1}""",
      "streamFloors"  -> """{"orders":0.2}""",
      "clusterFloors" -> """{"west":0.3}"""
    ).admission(applied)
    assert(rules.floors == Seq(
      AdmissionFloor(0.1, Set("east/a", "west/a")),
      AdmissionFloor(0.2, Set("east/a", "west/a", "west/b")),
      AdmissionFloor(0.3, Set("west/a", "west/b", "west/c"))
    ))
  }

  test("floors must not add up to more than one batch") {
    def refused(more: (String, String)*) = intercept[SpliceOptionException](settings(more: _*)).getMessage
    assert(refused("streamFloors" -> """{"orders":0.6}""", "clusterFloors" -> """{"west":0.6}""")
      .contains("streamFloors, clusterFloors"))
  }

  test("shares may name topics that one of the clusters does not have") {
    val own = settings("topicWeights" -> """{"b":2}""", "topicFloors" -> """{"c":0.5}""")
    val _   = own.of(cluster("east")._2, SortedSet("a"))
  }
}
