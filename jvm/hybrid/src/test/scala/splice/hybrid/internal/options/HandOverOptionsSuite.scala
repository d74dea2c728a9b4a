// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.handover.FromTheFirst
import splice.hybrid.{HandOver, LogColumns}
import splice.source.OffsetColumns
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions

final class HandOverOptionsSuite extends AnyFunSuite {

  private def parse(options: (String, String)*): Option[HandOver] =
    HandOverOptions.parse(SourceOptions(options.map { case (k, v) => s"live.$k" -> v }.toMap).scope("live"))

  private def refused(options: (String, String)*): String =
    intercept[SpliceOptionException](parse(options: _*)).getMessage

  test("a leg may have no hand-over") {
    assert(parse().isEmpty)
  }

  test("offsets accepts default and explicit columns") {
    assert(parse("handOver" -> "offsets").contains(HandOver.offsets()))
    val other = Seq("topic" -> "t", "partition" -> "p", "offset" -> "o")
    assert(
      parse(("handOver" -> "OFFSETS") +: other.map { case (k, v) => s"handOver.$k" -> v }: _*)
        .contains(HandOver.Offsets(LogColumns.Named(OffsetColumns("t", "p", "o"))))
    )
  }

  test("two roles with the same column are rejected") {
    assert(refused("handOver" -> "offsets", "handOver.topic" -> "Offset").contains("the same column 'Offset'"))
  }

  test("time rules are parsed") {
    assert(
      parse("handOver" -> "eventTime", "handOver.column" -> "ts", "handOver.overlap" -> "10 minutes")
        .contains(HandOver.eventTime("ts", Duration.ofMinutes(10)))
    )
    assert(
      parse("handOver" -> "modificationTime", "handOver.overlap" -> "1h")
        .contains(HandOver.modificationTime(Duration.ofHours(1)))
    )
    assert(parse(
      "handOver"          -> "nowMinus",
      "handOver.duration" -> "2 days"
    ).contains(HandOver.nowMinus(Duration.ofDays(2))))
  }

  test("the error for an unknown rule lists all rules") {
    val text = refused("handOver" -> "magic")
    assert(text.contains("'magic' is not a valid value of option 'live.handOver'") &&
      text.contains("offsets, eventTime, modificationTime, nowMinus"))
  }

  test("a missing parameter of a rule is rejected") {
    assert(refused("handOver" -> "eventTime", "handOver.overlap" -> "1h").contains("'live.handOver.column' is missing"))
    assert(refused("handOver" -> "eventTime", "handOver.column" -> "c").contains("'live.handOver.overlap' is missing"))
    assert(refused("handOver" -> "nowMinus").contains("'live.handOver.duration' is missing"))
    assert(refused(
      "handOver"          -> "nowMinus",
      "handOver.duration" -> "soon"
    ).contains("'soon' is not a valid value of option 'live.handOver.duration'"))
  }

  test("names of columns and classes are trimmed and must not be empty") {
    val byTime = Seq("handOver" -> "eventTime", "handOver.overlap" -> "1h")
    assert(parse(byTime :+ ("handOver.column" -> " ts "): _*)
      .contains(HandOver.eventTime("ts", Duration.ofHours(1))))
    assert(refused(
      byTime :+ ("handOver.column" -> " "): _*
    ).contains("' ' is not a valid value of option 'live.handOver.column'"))
    assert(parse("handOver" -> "custom", "handOver.class" -> s" ${classOf[FromTheFirst].getName} ")
      .contains(HandOver.custom(classOf[FromTheFirst])))
  }

  test("a parameter of another rule or without a rule is rejected") {
    val other = refused("handOver" -> "offsets", "handOver.overlap" -> "1h")
    val rules = "'live.handOver' = 'eventTime' or 'live.handOver' = 'modificationTime'"
    assert(other.contains(s"$rules, and the hand-over is 'offsets'"))
    val column = refused("handOver.column" -> "c")
    assert(column.contains("'live.handOver.column' belongs to 'live.handOver' = 'eventTime'"))
    val byTime = refused("handOver" -> "nowMinus", "handOver.duration" -> "1h", "onDuplicates" -> "warn")
    assert(
      byTime.contains("'live.onDuplicates' belongs to 'live.handOver' = 'offsets', and the hand-over is 'nowMinus'")
    )
    assert(parse("handOver" -> "offsets", "onDuplicates" -> "warn").contains(HandOver.offsets()))
    val holes = refused("handOver" -> "nowMinus", "handOver.duration" -> "1h", "onHoles" -> "ignore")
    assert(holes.contains("'live.onHoles' belongs to 'live.handOver' = 'offsets', and the hand-over is 'nowMinus'"))
    assert(parse("handOver" -> "offsets", "onHoles" -> "ignore").contains(HandOver.offsets()))
    val custom = Seq("handOver" -> "custom", "handOver.class" -> classOf[FromTheFirst].getName)
    Seq("onDuplicates", "onHoles").foreach { option =>
      val text     = refused(custom :+ (option -> "warn"): _*)
      val expected = s"'live.$option' belongs to 'live.handOver' = 'offsets', and the hand-over is 'custom'"
      assert(text.contains(expected), text)
    }
    assert(parse(custom :+ ("onGap" -> "warn"): _*).nonEmpty)
    assert(refused("onGap" -> "warn").contains("'live.onGap' belongs to a hand-over, and no hand-over is set"))
  }

  test("the options of a rule parse to the same rule") {
    Seq(
      HandOver.offsets("a", "b", "c"),
      HandOver.eventTime("ts", Duration.ofMillis(1500)),
      HandOver.modificationTime(Duration.ZERO),
      HandOver.nowMinus(Duration.ofDays(400))
    ).foreach(rule => assert(parse(rule.options: _*).contains(rule)))
  }
}
