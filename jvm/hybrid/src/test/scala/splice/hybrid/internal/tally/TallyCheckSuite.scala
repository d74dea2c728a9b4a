// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.Legs
import splice.hybrid.internal.chain.Chain
import splice.hybrid.internal.counting.{CountedColumns, LegCounts}
import splice.hybrid.internal.handover.FromTheFirst
import splice.hybrid.internal.options.ChainParser
import splice.source.LogPartition
import splice.source.errors.SpliceException
import splice.source.log.OffsetRuns
import splice.source.options.SourceOptions
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** Tests of the checks of a tally against its counting rule before the end of the leg. */
final class TallyCheckSuite extends AnyFunSuite {

  private val (old, recent, live) = (Legs.log(), Legs.log(), Legs.log())

  private def chain(rule: (String, String)*): Chain = {
    def archive(name: String, of: MemoryLog) = name -> MemoryOptions.of(of, "bounded" -> "true")
    ChainParser.parse(SourceOptions(Legs.options(
      archive("old", old),
      archive("recent", recent),
      Legs.live(live, rule: _*)
    )))
  }

  private def columns(own: Chain): CountedColumns = CountedColumns.of(own, own.first)((_, named) => named).get

  private val p0 = LogPartition("orders", 0)

  private def tally(own: Chain, invalid: Seq[Long], ranges: (Long, Long)*): Tally = {
    val created = new Tally(columns(own))
    created.add(LegCounts("a", Nil, Seq(p0 -> OffsetRuns.of(ranges: _*).toBytes), invalid, None))
    created
  }

  /** Creates the check of a chain whose legs have these tallies. */
  private def check(own: Chain, stored: (String, Tally)*): TallyCheck =
    new TallyCheck(own, leg => stored.toMap.get(leg.name))

  private val exact    = Seq("handOver" -> "offsets", "handOver.topic" -> "t", "handOver.partition" -> "p")
  private val accepted = exact :+ ("onDuplicates" -> "warn")

  private def valid(own: Chain, ranges: (Long, Long)*): Tally = tally(own, Seq(0, 0, 0), ranges: _*)

  test("rows without a value are an error with the column, its role and the number of rows") {
    val own = chain(exact: _*)
    Seq(
      Seq(3L, 0L, 0L) -> "'t' (topic) is null, negative, a fraction or too large in 3",
      Seq(0L, 1L, 0L) -> "'p' (partition) is null, negative, a fraction or too large in 1",
      Seq(0L, 0L, 2L) -> "'offset' (offset) is null, negative, a fraction or too large in 2"
    ).foreach { case (invalid, words) =>
      val error = intercept[SpliceException](check(own)(own("recent"), tally(own, invalid)))
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.INVALID_OFFSETS" && error.getMessage.contains(words))
      assert(error.getMessage.contains("Leg 'live'") && error.getMessage.contains("after leg 'recent'"))
    }
  }

  test("records that also exist in an earlier leg are an error while the later leg is read") {
    val own   = chain(exact: _*)
    val check = this.check(own, "old" -> valid(own, 0L -> 5L), "recent" -> valid(own, 0L -> 99L))
    check(own("old"), valid(own, 0L -> 5L))
    check(own("recent"), valid(own, 5L -> 9L))
    val error = intercept[SpliceException](check(own("recent"), valid(own, 4L -> 9L)))
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.DUPLICATES")
    assert(error.getMessage.contains("orders-0 has 1 offsets in both 'old' and 'recent' (4)"), error.getMessage)
  }

  test("accepted duplicates produce one warning per leg") {
    val own         = chain(accepted: _*)
    val check       = this.check(own, "old" -> valid(own, 0L -> 5L))
    val twice       = valid(own, 0L -> 5L, 0L -> 1L)
    val (_, logged) = LoggedMessages.during("splice.hybrid.internal.tally.TallyCheck") {
      Seq("old", "old", "recent", "recent").foreach(name => check(own(name), twice))
    }
    assert(logged.size == 2 && logged.forall(_.contains("SPLICE_HAND_OVER_DATA.DUPLICATES")), logged)
    assert(!logged.head.contains("'recent'") && logged.last.contains("in both 'old' and 'recent' (0 to 4)"), logged)
  }

  test("a user-defined rule accepts duplicates, but not rows without a value") {
    val own = chain(
      "handOver"        -> "custom",
      "handOver.class"  -> classOf[FromTheFirst].getName,
      "handOver.offset" -> "offset"
    )
    check(own, "old" -> valid(own, 0L -> 5L))(own("recent"), valid(own, 0L -> 5L, 0L -> 5L))
    intercept[SpliceException](check(own)(own("recent"), tally(own, Seq(0, 0, 1))))
  }
}
