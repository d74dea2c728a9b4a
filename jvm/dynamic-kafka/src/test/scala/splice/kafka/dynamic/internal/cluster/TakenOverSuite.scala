// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import org.scalatest.funsuite.AnyFunSuite

import splice.source.options.SourceOptions
import splice.source.{Position, Source, SourceProvider}

/** Tests of checkpoints of Spark's Kafka source, which have offsets and no side log. */
final class TakenOverSuite extends AnyFunSuite {

  private def takesOver(offset: String, options: (String, String)*): Boolean = {
    val source: Source[_ <: Position] = SourceProvider.create(SourceOptions(options.toMap))
    source.takesOver(source.position(offset))
  }

  private val ofSpark = """{"orders":{"0":5}}"""
  private val dynamic = Seq("source" -> "dynamicKafka", "streams" -> "orders")
  private val servers = "kafka.bootstrap.servers" -> "broker:9092"

  test("a source of one cluster accepts these checkpoints, with or without metadata of its cluster") {
    assert(takesOver(ofSpark, "source" -> "kafka", "subscribe" -> "orders", servers))
    assert(takesOver(ofSpark, dynamic :+ servers :+ ("metadata" -> "singleCluster"): _*))
  }

  test("a source of many clusters rejects these checkpoints, and any source rejects them after offsets of Splice") {
    assert(!takesOver(ofSpark, dynamic :+ ("metadata.file" -> "streams.json"): _*))
    val own = """{"change":0,"clusters":{"east":{"orders":{"0":5}}},"v":1}"""
    assert(!takesOver(own, dynamic :+ servers :+ ("metadata" -> "singleCluster"): _*))
    val stored = """{"at":"position-00000000","change":0,"v":1}"""
    assert(!takesOver(stored, dynamic :+ servers :+ ("metadata" -> "singleCluster"): _*))
  }
}
