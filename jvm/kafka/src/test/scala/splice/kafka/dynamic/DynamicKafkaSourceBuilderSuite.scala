// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.collection.immutable.ListMap

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.OffsetsInitializer
import splice.source.SpliceOptionException

/** The builder of a source over many clusters. */
final class DynamicKafkaSourceBuilderSuite extends AnyFunSuite {

  private def builder() = DynamicKafkaSource.builder().metadataFile("/streams.yaml").streams("orders", "returns")

  private val begun =
    ListMap("source" -> "dynamic-kafka", "metadata.file" -> "/streams.yaml", "streams" -> "orders,returns")

  test("the words of the builder are options") {
    assert(builder().build().options == begun)
    assert(builder().commitToGroup("g").build().options ==
      begun + ("kafka.group.id" -> "g") + ("commitToGroup" -> "true"))
    assert(builder().stoppingOffsets(OffsetsInitializer.timestamp(7L)).build().options ==
      begun + ("endingTimestamp" -> "7"))
  }

  test("a later start or end takes the place of an earlier one") {
    val spec = builder()
      .startingOffsets(OffsetsInitializer.timestamp(7L))
      .startingOffsets(OffsetsInitializer.earliest())
      .stoppingOffsets(OffsetsInitializer.timestamp(9L))
      .stoppingOffsets(OffsetsInitializer.latest())
      .build()
    assert(spec.options == begun + ("startingOffsets" -> "earliest") + ("endingOffsets" -> "latest"))
  }

  test("what is a start only cannot be an end") {
    Seq(OffsetsInitializer.earliest(), OffsetsInitializer.committed()).foreach { only =>
      val refused = intercept[SpliceOptionException](builder().stoppingOffsets(only))
      assert(refused.getMessage.contains("'endingOffsets'"))
    }
  }

  test("build checks options and asks nobody") {
    val typo = intercept[SpliceOptionException](builder().option("stream", "orders").build())
    assert(typo.getMessage.contains("Did you mean 'streams'?"))
  }
}
