// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import splice.source.SourceProvider
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions
import splice.source.runtime.Boundedness

/** Tests of the builder, the provider and the created source. */
final class KafkaSourceBuilderSuite extends AnyFunSuite {

  private def builder() = KafkaSource.builder().bootstrapServers("broker:9092").topics("orders", "returns")

  private val begun =
    ListMap("source" -> "kafka", "kafka.bootstrap.servers" -> "broker:9092", "subscribe" -> "orders,returns")

  test("methods of the builder set options") {
    assert(builder().build().options == begun)
    assert(builder().startingOffsets(OffsetsInitializer.earliest()).build().options ==
      begun + ("startingOffsets" -> "earliest"))
    assert(builder().startingOffsets(OffsetsInitializer.timestamp(7L)).build().options ==
      begun + ("startingTimestamp"           -> "7"))
    val offsets           = Map("orders" -> Map(10 -> 1L, 9 -> 2L))
    val exact             = builder().endingOffsets(OffsetsInitializer.offsets(offsets)).build().options
    assert(exact == begun + ("endingOffsets" -> """{"orders":{"9":2,"10":1}}"""))
    val ofJava            = Map("orders" -> Map(Integer.valueOf(3) -> java.lang.Long.valueOf(4)).asJava).asJava
    assert(builder().endingOffsets(OffsetsInitializer.offsets(ofJava)).build().options("endingOffsets") ==
      """{"orders":{"3":4}}""")
  }

  test("a later start replaces an earlier start") {
    val spec = builder()
      .option("kafka.group.id", "g")
      .startingOffsets(OffsetsInitializer.committed("latest"))
      .startingOffsets(OffsetsInitializer.latest())
      .build()
    assert(spec.options == begun + ("kafka.group.id" -> "g") + ("startingOffsets" -> "latest"))
  }

  test("a builder is immutable") {
    val shared = builder().startingOffsets(OffsetsInitializer.earliest()).endingOffsets(OffsetsInitializer.latest())
    val kept   = begun + ("startingOffsets" -> "earliest") + ("endingOffsets" -> "latest")
    val others = Seq(
      shared.startingOffsets(OffsetsInitializer.latest()),
      shared.endingOffsets(OffsetsInitializer.timestamp(7L)),
      shared.topics("others"),
      shared.commitToGroup("g"),
      shared.properties(Map("client.id" -> "c")),
      shared.options(Map("includeHeaders" -> "true"))
    )
    assert(shared.build().options == kept)
    assert(others.map(_.build().options).forall(_ != kept))
    intercept[SpliceOptionException](shared.endingOffsets(OffsetsInitializer.earliest()))
    assert(shared.build().options == kept)
  }

  test("a start that is not a valid end is rejected as an end") {
    Seq(OffsetsInitializer.earliest(), OffsetsInitializer.committed()).foreach { only =>
      assert(intercept[SpliceOptionException](builder().endingOffsets(only)).getMessage.contains("'endingOffsets'"))
    }
  }

  test("build checks the options without a connection") {
    val typo = intercept[SpliceOptionException](builder().option("startingOffset", "latest").build())
    assert(typo.getMessage.contains("Did you mean 'startingOffsets'?"))
    assert(
      intercept[SpliceOptionException](builder().topicPattern("o.*").build()).getMessage.contains("subscribePattern")
    )
    assert(!builder().option("kafka.sasl.jaas.config", "hunter2").build().toString.contains("hunter2"))
  }

  test("the provider creates the source from its options") {
    val plain = SourceProvider.create(SourceOptions(begun))
    assert(plain.kind == "kafka" && plain.boundedness == Boundedness.ContinuousUnbounded)
    assert(plain.identity.isEmpty && plain.toString == "kafka [subscribe=orders,returns]")
    val bounded = SourceProvider.create(SourceOptions(begun + ("endingOffsets" -> "latest")))
    assert(bounded.boundedness == Boundedness.Bounded)
  }

  test("the columns equal the columns of Spark's source") {
    val plain = SourceProvider.create(SourceOptions(begun)).schema
    assert(
      plain == StructType.fromDDL(
        "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
      )
    )
    val more = SourceProvider.create(SourceOptions(begun + ("includeHeaders" -> "true"))).schema
    assert(more.last == StructField("headers", ArrayType(StructType.fromDDL("key STRING, value BINARY"))))
  }
}
