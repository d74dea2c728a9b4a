// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Duration

import scala.collection.immutable.ListMap

import org.scalatest.funsuite.AnyFunSuite

import splice.source.SourceSpec
import splice.source.errors.SpliceOptionException
import splice.testkit.internal.memory.MemoryOptions

final class HybridSourceBuilderSuite extends AnyFunSuite {

  private val log     = Legs.log()
  private val history = SourceSpec(ListMap.from(MemoryOptions.of(log, "bounded" -> "true")))
  private val live    = SourceSpec(ListMap.from(MemoryOptions.of(log)))

  test("a builder sets the options") {
    val built = HybridSource
      .builder("history", history, "id, topic")
      .addSource("live", live, HandOver.eventTime("timestamp", Duration.ofMinutes(5)), "id, topic")
      .option("schema", "id BIGINT, topic STRING")
      .build()
    assert(
      built.options == ListMap(
        "source"                -> "hybrid",
        "legs"                  -> "history,live",
        "schema"                -> "id BIGINT, topic STRING",
        "history.source"        -> "memory",
        "history.log"           -> log.name,
        "history.bounded"       -> "true",
        "history.select"        -> "id, topic",
        "live.source"           -> "memory",
        "live.log"              -> log.name,
        "live.handOver"         -> "eventTime",
        "live.handOver.column"  -> "timestamp",
        "live.handOver.overlap" -> "300000ms",
        "live.select"           -> "id, topic"
      )
    )
  }

  test("all overloads of addSource set the options") {
    val first = HybridSource.builder("history", history)
    assert(!first.addSource("live", live).build().options.contains("live.handOver"))
    assert(first.addSource("live", live, HandOver.offsets()).build().options("live.handOver") == "offsets")
    assert(first.addSource("live", live, "id").build().options("live.select") == "id")
  }

  test("build runs the same checks as the options") {
    val error = intercept[SpliceOptionException](HybridSource.builder("live", live).addSource("more", live).build())
    assert(error.getCondition == "SPLICE_HYBRID.UNBOUNDED_LEG")
    val name = intercept[SpliceOptionException](HybridSource.builder("1st", history).build())
    assert(name.getCondition == "SPLICE_HYBRID.INVALID_LEG_NAME")
  }
}
