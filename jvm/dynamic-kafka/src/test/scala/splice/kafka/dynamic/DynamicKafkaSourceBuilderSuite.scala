// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.collection.immutable.ListMap

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.OffsetsInitializer
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions

/** Tests of the builder of a source over many clusters. */
final class DynamicKafkaSourceBuilderSuite extends AnyFunSuite {

  private def builder() = DynamicKafkaSource.builder().metadataFile("/streams.yaml").streams("orders", "returns")

  private val begun =
    ListMap("source" -> "dynamicKafka", "metadata.file" -> "/streams.yaml", "streams" -> "orders,returns")

  test("methods of the builder set options") {
    assert(builder().build().options == begun)
    assert(builder().commitToGroup("g").build().options ==
      begun + ("kafka.group.id" -> "g") + ("commitToGroup" -> "true"))
    assert(builder().endingOffsets(OffsetsInitializer.timestamp(7L)).build().options ==
      begun + ("endingTimestamp" -> "7"))
  }

  test("a later start or end replaces an earlier start or end") {
    val spec = builder()
      .startingOffsets(OffsetsInitializer.timestamp(7L))
      .startingOffsets(OffsetsInitializer.earliest())
      .endingOffsets(OffsetsInitializer.timestamp(9L))
      .endingOffsets(OffsetsInitializer.latest())
      .build()
    assert(spec.options == begun + ("startingOffsets" -> "earliest") + ("endingOffsets" -> "latest"))
  }

  test("a builder is immutable") {
    val shared = builder().startingOffsets(OffsetsInitializer.earliest())
    val kept   = begun + ("startingOffsets" -> "earliest")
    val orders = shared.startingOffsets(OffsetsInitializer.latest(), "orders")
    val other  = shared.metadataFile("/others.yaml")
    assert(shared.build().options == kept)
    assert(orders.build().options == kept + ("stream.orders.startingOffsets" -> "latest"))
    assert(other.build().options == kept + ("metadata.file"                  -> "/others.yaml"))
  }

  test("properties of the client have Kafka's names, and options take numbers and booleans") {
    val spec = builder()
      .properties(Map("security.protocol" -> "SSL"))
      .option("maxOffsetsPerTrigger", 7L)
      .option("includeHeaders", true)
      .option("maxRemovalFraction", 0.5)
      .build()
    assert(spec.options == begun ++ Map(
      "kafka.security.protocol" -> "SSL",
      "maxOffsetsPerTrigger"    -> "7",
      "includeHeaders"          -> "true",
      "maxRemovalFraction"      -> "0.5"
    ))
  }

  test("a stream may have a separate start") {
    val spec = builder()
      .startingOffsets(OffsetsInitializer.earliest())
      .startingOffsets(OffsetsInitializer.latest(), "orders")
      .startingOffsets(OffsetsInitializer.timestamp(7L), "orders")
      .build()
    assert(spec.options == begun + ("startingOffsets" -> "earliest") + ("stream.orders.startingTimestamp" -> "7"))
  }

  test("only a valid start can be set per stream, and only for a subscribed stream") {
    def refused(key: String, value: String) =
      intercept[SpliceOptionException](builder().option(key, value).build()).getMessage
    assert(refused("stream.orders.maxOffsetsPerTrigger", "7").contains(
      "'stream.<name>.<option>': startingOffsets, startingTimestamp, startingOffsetsByTimestamp, " +
        "startingOffsetsByTimestampStrategy, onNoCommittedOffset"
    ))
    assert(refused("stream.startingOffsets", "latest").contains("'stream.startingOffsets'"))
    assert(refused("stream.order.startingOffsets", "latest").contains("'streams' names orders, returns"))
    assert(refused("stream.orders.startingOffsets", "soon").contains("'stream.orders.startingOffsets'"))
    assert(refused("stream.orders.startingOffsets", "committed").contains("'kafka.group.id'"))
    assert(builder().option("Stream.Orders.StartingOffsets", "latest").build().options.size == begun.size + 1)
  }

  test("a leg with a hand-over must not have a start per stream or per cluster") {
    def start(key: String) =
      new DynamicKafkaSourceProvider().startOption(SourceOptions(begun + (key -> "7"))).contains(key)
    assert(start("startingTimestamp") && start("stream.orders.startingTimestamp") &&
      start("cluster.a.startingTimestamp"))
    assert(!start("cluster.a.kafka.client.id") && !start("stream.orders.onNoCommittedOffset"))
  }

  test("a start that is not a valid end is rejected as an end") {
    Seq(OffsetsInitializer.earliest(), OffsetsInitializer.committed()).foreach { only =>
      val refused = intercept[SpliceOptionException](builder().endingOffsets(only))
      assert(refused.getMessage.contains("'endingOffsets'"))
    }
  }

  test("build checks the options without a connection") {
    val typo = intercept[SpliceOptionException](builder().option("stream", "orders").build())
    assert(typo.getMessage.contains("Did you mean 'streams'?"))
  }
}
