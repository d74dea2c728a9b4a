// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Duration

import scala.collection.immutable.ListMap

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.OnHoles
import splice.hybrid.internal.options.ChainParser
import splice.source.SourceSpec
import splice.source.errors.SpliceOptionException
import splice.source.options.{FailOrWarn, SourceOptions}
import splice.testkit.internal.memory.MemoryOptions

final class HybridSourceBuilderSuite extends AnyFunSuite {

  private val log     = Legs.log()
  private val history = SourceSpec(ListMap.from(MemoryOptions.of(log, "bounded" -> "true")))
  private val live    = SourceSpec(ListMap.from(MemoryOptions.of(log)))

  private val first  = HybridSource.builder("history", history)
  private val exact  = first.addSource("live", live, HandOver.offsets())
  private val byTime = first.addSource("live", live, HandOver.nowMinus(Duration.ofHours(2)))

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
    assert(!first.addSource("live", live).build().options.contains("live.handOver"))
    assert(first.addSource("live", live, HandOver.offsets()).build().options("live.handOver") == "offsets")
    assert(first.addSource("live", live, "id").build().options("live.select") == "id")
  }

  test("the policies of a leg set the options of the leg") {
    val built    = exact.onHoles("live", "ignore").onGap("live", "warn").onDuplicates("live", "warn").build().options
    val policies = Seq("onHoles" -> "ignore", "onGap" -> "warn", "onDuplicates" -> "warn")
    assert(built == Legs.options(Legs.history(log), Legs.live(log, HandOver.offsets().options ++ policies: _*)))
    val leg = ChainParser.parse(SourceOptions(built)).last
    assert(leg.onHoles == OnHoles.Ignore && leg.onGap == FailOrWarn.Warn && leg.onDuplicates == FailOrWarn.Warn)
    assert(byTime.onGap("live", "warn").build().options("live.onGap") == "warn")
  }

  test("a policy may be set before its leg is added, the last value applies, and no policy is the default") {
    val early = first.onHoles("live", "ignore").onHoles("live", "fail").addSource("live", live, HandOver.offsets())
    assert(early.build().options == exact.onHoles("live", "fail").build().options)
    assert(exact.build().options.keys.forall(key => !key.startsWith("live.on")))
  }

  test("an option of the builder replaces the option of the source of a leg, regardless of case") {
    val limited = SourceSpec(history.options + ("maxRows" -> "1"))
    val built   = HybridSource.builder("history", limited).addSource("live", live, HandOver.offsets())
      .option("history.maxrows", "50")
      .build()
    assert(built.options.filter(_._1.equalsIgnoreCase("history.maxRows")).toSeq == Seq("history.maxrows" -> "50"))
  }

  test("a policy that is not allowed results in the error of the option") {
    val without = first.addSource("live", live)
    Seq(
      (exact, exact.onHoles("live", "warn"), "live.onHoles"             -> "warn"),
      (exact, exact.onGap("live", "ignore"), "live.onGap"               -> "ignore"),
      (exact, exact.onDuplicates("live", "fill"), "live.onDuplicates"   -> "fill"),
      (byTime, byTime.onHoles("live", "fill"), "live.onHoles"           -> "fill"),
      (byTime, byTime.onDuplicates("live", "warn"), "live.onDuplicates" -> "warn"),
      (without, without.onGap("live", "warn"), "live.onGap"             -> "warn"),
      (exact, exact.onGap("lives", "warn"), "lives.onGap"               -> "warn")
    ).foreach { case (allowed, wrong, option) =>
      val expected = intercept[SpliceOptionException](Legs.source(allowed.build().options + option))
      val error    = intercept[SpliceOptionException](wrong.build())
      assert(error.getCondition == expected.getCondition && error.getMessage == expected.getMessage)
      assert(error.getMessage.contains(s"'${option._1}'"))
    }
  }

  test("build runs the same checks as the options") {
    val error = intercept[SpliceOptionException](HybridSource.builder("live", live).addSource("more", live).build())
    assert(error.getCondition == "SPLICE_HYBRID.UNBOUNDED_LEG")
    val name = intercept[SpliceOptionException](HybridSource.builder("1st", history).build())
    assert(name.getCondition == "SPLICE_HYBRID.INVALID_LEG_NAME")
  }
}
