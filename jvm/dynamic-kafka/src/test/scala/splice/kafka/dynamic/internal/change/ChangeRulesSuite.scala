// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.Place
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.internal.state._
import splice.kafka.dynamic.{KafkaStream, StreamMetadata}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

final class ChangeRulesSuite extends AnyFunSuite {

  import StreamsAt._

  private val t0  = Instant.parse("2026-01-01T00:00:00Z")
  private val day = Duration.ofDays(1)

  private def rules(policy: OnRemoved): ChangeRules = new ChangeRules(RemovalRules(policy, maxFraction = 1.0))

  private def dead(since: Instant): Availability =
    Availability.Unavailable(since, responded = true, Seq.fill(Availability.Requests)(since.plus(day)))

  private def drained(from: AppliedMetadata, ends: SortedMap[ClusterTopic, KafkaPosition]) =
    rules(OnRemoved.Drain).drain(from, at(from.number), ends, t0)

  private def take(
      rules: ChangeRules,
      from: AppliedMetadata,
      found: StreamMetadata,
      position: DynamicPosition,
      now: Instant = t0
  ) = rules.take(from, found, _ => true, position, now, now)

  test("drain: the end of a removed topic is requested, the topic is read to its end, and its position is kept") {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x", "a/y"), metadata(2, "a/x"), at(0, "a/x" -> 1, "a/y" -> 5))
    assert(one.draining(topic("a/y")).bound == Bound.Requested && one.read("a") == SortedSet("x", "y"))
    val two = drained(one, SortedMap(topic("a/y") -> kafka("y", 9)))
    assert(drain.settle(two, at(2, "a/x" -> 1, "a/y" -> 8), t0, _ => Availability.Unknown).isEmpty)
    val three = drain.settle(two, at(2, "a/x" -> 1, "a/y" -> 9), t0, _ => Availability.Unknown).get
    assert(three.draining.isEmpty && three.removed(topic("a/y")) == kafka("y", 9))
    val back = take(drain, three, metadata(3, "a/x", "a/y"), at(3, "a/x" -> 1))
    assert(back.starts(topic("a/y")) == kafka("y", 9) && back.removed.isEmpty)
  }

  test("drain: offsets of a topic that was recreated before its removal do not reach the end of the new topic") {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x", "a/y"), metadata(2, "a/x"), at(0, "a/x" -> 1, "a/y" -> 5))
    val two   = drained(one, SortedMap(topic("a/y") -> kafka("y", 1).as("y", 1)))
    assert(drain.settle(two, at(2, "a/x" -> 1, "a/y" -> 5), t0, _ => Availability.Unknown).isEmpty)
    val read = DynamicPosition.of(2, Seq("a" -> kafka("y", 1).as("y", 1)))
    assert(drain.settle(two, read, t0, _ => Availability.Unknown).get.draining.isEmpty)
  }

  test("drain: a topic without a position is drained only if it was in the read set and its time has passed") {
    val drain = rules(OnRemoved.Drain)
    val moved = take(drain, applied("a/x"), metadata(2, "b/x"), at(0, "a/x" -> 5))
    val back  = take(drain, moved, metadata(3, "a/x"), at(1, "a/x" -> 5))
    assert(back.draining(topic("b/x")).bound == Bound.Requested && back.read("b") == SortedSet("x"))
    assert(back.removed.isEmpty)
    val ends = drained(back, SortedMap(topic("b/x") -> kafka("x", 9)))
    assert(drain.settle(ends, at(3, "a/x" -> 5), t0, _ => Availability.Unknown).isEmpty)
    val over = drain.settle(ends, at(3, "a/x" -> 5, "b/x" -> 9), t0, _ => Availability.Unknown).get
    assert(over.removed(topic("b/x")) == kafka("x", 9))
    val later = goesOver(2, Some(Place.At(t0.plus(day))), "b/x")
    val moves = take(drain, applied("a/x"), later, at(0, "a/x" -> 5))
    val early = take(drain, moves, metadata(3, "a/x"), at(1, "a/x" -> 5))
    assert(early.draining.isEmpty && !early.topics.contains(topic("b/x")))
    val late    = t0.plus(day).plusSeconds(1)
    val pending = take(drain, moves, metadata(3, "a/x"), at(1, "a/x" -> 5), late)
    assert(pending.pending.keySet == Set(topic("b/x")) && pending.read("b") == SortedSet("x"))
    val begun = drain.begin(pending, at(2, "a/x" -> 5), SortedMap(topic("b/x") -> kafka("x", 4)), t0)
    assert(begun.draining(topic("b/x")).bound == Bound.Requested && begun.starts(topic("b/x")) == kafka("x", 4))
  }

  test("drain: the warning about an abandoned topic without a position has an upper limit of its rows") {
    val drain     = rules(OnRemoved.Drain)
    val moved     = take(drain, applied("a/x"), metadata(2, "b/x"), at(0, "a/x" -> 5))
    val requested = take(drain, moved, metadata(3, "a/x"), at(1, "a/x" -> 5))
    def abandoned(from: AppliedMetadata, position: DynamicPosition) =
      ChangeDescription.warnings(from, drain.settle(from, position, t0.plus(day), _ => dead(t0)).get)
    Seq(
      at(2)             -> "number of unread rows is unknown (from the start, end unknown), because",
      at(2, "b/x" -> 4) -> "number of unread rows is unknown (partition 0 from 4, end unknown), because"
    ).foreach { case (position, text) =>
      val all = abandoned(requested, position)
      assert(all.exists(w => w.contains("b/x") && w.contains(text)), all)
    }
    val ends = drained(requested, SortedMap(topic("b/x") -> kafka("x", 9)))
    assert(abandoned(ends, at(3)).exists(w => w.contains("b/x") && w.contains("up to 9 rows")))
    assert(abandoned(ends, at(3, "b/x" -> 4)).exists(w => w.contains("b/x") && w.contains(" 5 rows")))
  }

  test("topics that are added and removed over time do not enlarge later changes") {
    val drop = rules(OnRemoved.Drop)
    val last = (1 to 1000).foldLeft(applied("a/x")) { (was, n) =>
      val added   = take(drop, was, metadata(2L * n, "a/x", s"a/t$n"), at(was.number, "a/x" -> 5))
      val removed = take(drop, added, metadata(2L * n + 1, "a/x"), at(added.number, "a/x" -> 5, s"a/t$n" -> 3))
      assert(removed.removed.keySet == Set(topic(s"a/t$n")))
      drop.settle(removed, at(removed.number, "a/x" -> 5), t0.plus(day.multipliedBy(365)), _ => Availability.Available)
        .get
    }
    assert(last.number == 3000 && last.topics.size <= 2, last.topics.size)
    assert(AppliedMetadataFormat.write(last).map(_.length).sum < 1000)
  }

  test("drain: a topic that returns during its drain continues unchanged") {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x", "b/y"), metadata(2, "a/x"), at(0, "b/y" -> 5))
    val back  = take(drain, one, metadata(3, "a/x", "b/y"), at(1, "b/y" -> 6))
    assert(back.draining.isEmpty && back.starts.isEmpty && back.read("b") == SortedSet("y"))
  }

  test("drain: a cluster that does not respond for the timeout is abandoned, and a responsive cluster is not") {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x", "b/y"), metadata(2, "a/x"), at(0, "b/y" -> 5))
    assert(drain.settle(one, at(1, "b/y" -> 5), t0.plus(day), _ => Availability.Unknown).isEmpty)
    val of   = (t: ClusterTopic) => if (t.cluster == "b") dead(t0) else Availability.Available
    val over = drain.settle(one, at(1, "b/y" -> 5), t0.plus(day), of).get
    assert(over.removed(topic("b/y")) == kafka("y", 5) && !over.read.contains("b"))
  }

  test("drain: only requests that were sent and failed after the timeout abandon a topic") {
    val drain          = rules(OnRemoved.Drain)
    val (hour, minute) = (Duration.ofHours(1), Duration.ofMinutes(1))
    val one            = take(drain, applied("a/x", "b/y"), metadata(2, "a/x"), at(0, "b/y" -> 5))
    def settled(of: Availability, from: AppliedMetadata = one) =
      drain.settle(from, at(from.number, "b/y" -> 5), t0.plus(day), _ => of)
    def failed(since: Instant, sent: Instant*) = Availability.Unavailable(since, responded = false, sent)
    // No request was sent for a day, only one was, or some were sent before the timeout.
    assert(settled(failed(t0)).isEmpty && settled(failed(t0, t0.plus(hour))).isEmpty)
    val early = settled(failed(t0, Seq(hour.minus(minute), hour, hour).map(t0.plus): _*)).get
    assert(early.draining(topic("b/y")).unavailable.contains(t0) && early.removed.isEmpty)
    assert(settled(failed(t0, Seq.fill(3)(t0.plus(hour)): _*)).exists(_.draining.isEmpty))
    // The outage continues in the next run, and a response ends it.
    val later = t0.plus(hour).plus(minute)
    assert(settled(failed(later, later, later, later), early).exists(_.draining.isEmpty))
    val again = settled(failed(later, later, later, later).copy(responded = true), early).get
    assert(again.draining(topic("b/y")).unavailable.contains(later))
    assert(settled(Availability.Available, early).exists(_.draining(topic("b/y")).unavailable.isEmpty))
    assert(settled(Availability.Unknown, early).isEmpty && settled(Availability.Available).isEmpty)
  }

  test(
    "drain: a deleted or recreated partition is not awaited, and a warning has the number of its rows"
  ) {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x", "a/y"), metadata(2, "a/x"), at(0, "a/y" -> 5))
    val ends  = KafkaPosition.of(Seq(LogPartition("y", 0) -> 9L, LogPartition("y", 1) -> 7L))
    val two   = drained(one, SortedMap(topic("a/y") -> ends))
    assert(ChangeDescription.warnings(one, two).isEmpty)
    val three = drained(two, SortedMap(topic("a/y") -> kafka("y", 9)))
    val lines = ChangeDescription.warnings(two, three)
    assert(lines.exists(l =>
      l.contains("a/y") && l.contains("partition 1 from the start up to 7") && l.contains("up to 7 rows")
    ))
    assert(drain.settle(three, at(3, "a/y" -> 9), t0, _ => Availability.Unknown).exists(_.draining.isEmpty))
    val none = drained(two, SortedMap(topic("a/y") -> KafkaPosition.Empty))
    assert(drain.settle(none, at(3, "a/x" -> 1), t0, _ => Availability.Unknown).exists(_.draining.isEmpty))
  }

  test("drain: a truncated partition is read to the end of its log, and a warning has the offsets of lost rows") {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x", "a/y"), metadata(2, "a/x"), at(0, "a/y" -> 5))
    val ends  = KafkaPosition.of(Seq(LogPartition("y", 0) -> 9L, LogPartition("y", 1) -> 7L))
    val two   = drained(one, SortedMap(topic("a/y") -> ends))

    def cut(read: Long, end: (LogPartition, Long)*) =
      drain.drain(two, at(2, "a/y" -> read), SortedMap(topic("a/y") -> KafkaPosition.of(end)), t0)
    def lost(after: AppliedMetadata) = after.topics(topic("a/y")).abandoned.map(_.text)
    val above                        = cut(5, LogPartition("y", 0) -> 6L, LogPartition("y", 1) -> 7L)
    val text                         = "3 rows are not read (partition 0 from 6 up to 9), because the log was truncated"
    assert(above.draining(topic("a/y")).bound == Bound.Ends(ends ++ Seq(LogPartition("y", 0) -> 6L)))
    assert(lost(above).contains(text) && above.rowsAbandoned == 3)
    assert(ChangeDescription.warnings(two, above).exists(line => line.contains("a/y") && line.contains(text)))
    assert(ChangeDescription(two, above).contains(ChangeDescription("topicAbandoned", Seq(s"a/y: $text"))))
    val position = DynamicPosition.of(3, Seq("a" -> (ends ++ Seq(LogPartition("y", 0) -> 6L))))
    assert(drain.settle(above, position, t0, _ => Availability.Unknown).exists(_.draining.isEmpty))
    // The query has read the offsets 5 to 7 before the truncation.
    assert(lost(cut(8, LogPartition("y", 0) -> 5L, LogPartition("y", 1) -> 7L)).contains(
      "1 rows are not read (partition 0 from 8 up to 9), because the log was truncated"
    ))
    // The other partition was deleted.
    val both = cut(5, LogPartition("y", 0) -> 6L)
    assert(lost(both).exists(_.endsWith(s"because these partitions were deleted or recreated; $text")))
    assert(both.rowsAbandoned == 10)
  }

  test("drain: offsets that a document sets remain such offsets if a partition is deleted") {
    val base = applied("a/x")
    val ends = KafkaPosition.of(Seq(LogPartition("y", 0) -> 9L, LogPartition("y", 1) -> 7L))
    val set  = base.copy(topics = base.topics + (topic("a/y") -> Draining("s", t0, Bound.Ends(ends, isSet = true))))
    assert(drained(set, SortedMap(topic("a/y") -> kafka("y", 9))).draining(topic("a/y")).bound ==
      Bound.Ends(kafka("y", 9), isSet = true))
  }

  test("drop: a removed topic keeps its position and resumes there") {
    val one = take(rules(OnRemoved.Drop), applied("a/x", "a/y"), metadata(2, "a/x"), at(0, "a/y" -> 5))
    assert(one.draining.isEmpty && one.removed(topic("a/y")) == kafka("y", 5))
    assert(take(rules(OnRemoved.Drop), one, metadata(3, "a/x", "a/y"), at(1)).starts(topic("a/y")) == kafka("y", 5))
  }

  test("a position is removed after its retention, and a topic that returns later starts again") {
    val drop = rules(OnRemoved.Drop)
    val one  = take(drop, applied("a/x", "a/y"), metadata(2, "a/x"), at(0, "a/y" -> 5))
    assert(drop.settle(one, at(1), t0.plus(Duration.ofDays(6)), _ => Availability.Unknown).isEmpty)
    val two = drop.settle(one, at(1), t0.plus(Duration.ofDays(7)), _ => Availability.Unknown).get
    assert(two.gone == Set(topic("a/y")) && two.removed.isEmpty)
    assert(drop.settle(two, at(2), t0.plus(Duration.ofDays(9)), _ => Availability.Unknown).isEmpty)
    val back = take(drop, two, metadata(3, "a/x", "a/y"), at(2))
    assert(back.waiting(topic("a/y")) == Waiting("s", None, Some(Gone)) && back.read("a") == SortedSet("x", "y"))
    assert(drop.begin(back, at(3), SortedMap(topic("a/y") -> kafka("y", 77)), t0).starts ==
      SortedMap(topic("a/y") -> kafka("y", 77)))
    val never = take(drop, back, metadata(4, "a/x"), at(3))
    assert(never.gone == Set(topic("a/y")))
    // No position can resume at rows that were written after the removal, so a warning names the topic.
    assert(ChangeDescription.warnings(back, never).exists(line =>
      line.contains("a/y") && line.contains("returned the start")
    ))
    assert(ChangeDescription(back, never).exists(event =>
      event.event == "topicAbandoned" && event.names.head.contains("a/y")
    ))
    assert(ChangeDescription.warnings(two, back).isEmpty && ChangeDescription.warnings(one, two).isEmpty)
  }

  test("a cluster is kept only while one of its topics is read or may resume at its position") {
    val drop = rules(OnRemoved.Drop)
    val one  = take(drop, applied("a/x", "b/y"), metadata(2, "a/x"), at(0, "b/y" -> 5))
    assert(one.clusters.keySet == Set("a", "b"))
    val two = drop.settle(one, at(1), t0.plus(Duration.ofDays(7)), _ => Availability.Unknown).get
    assert(two.clusters.keySet == Set("a") && two.gone == Set(topic("b/y")))
  }

  test("cutover: the new topics of a stream wait until its removed topics are drained") {
    val drain     = rules(OnRemoved.Drain)
    val start     = at(0, "a/x" -> 5, "c/x" -> 1)
    val requested = take(drain, applied("a/x", "c/x"), metadata(2, "b/x", "c/x"), start)
    val ends      = KafkaPosition.of(Seq(LogPartition("x", 0) -> 9L, LogPartition("x", 1) -> 9L))
    val moved     = drained(requested, SortedMap(topic("a/x") -> ends))
    val target    = KafkaPosition.of(Seq(LogPartition("x", 0) -> 7L, LogPartition("x", 1) -> 7L))
    def bound(how: CutoverOrder, applied: AppliedMetadata, cluster: String, first: Long, second: Long): String = {
      val old = KafkaPosition.of(Seq(LogPartition("x", 0) -> first, LogPartition("x", 1) -> second))
      UpperBound(applied, how, cluster, DynamicPosition.of(2, Seq("a" -> old)), target, Map.empty, _ => None).json
    }
    assert(bound(CutoverOrder.Together, moved, "b", 5, 5) == target.json)
    assert(bound(CutoverOrder.Stream, requested, "b", 9, 9) == "{}" &&
      bound(CutoverOrder.Stream, moved, "b", 9, 8) == "{}")
    assert(bound(CutoverOrder.Stream, moved, "b", 9, 9) == target.json)
    assert(bound(CutoverOrder.Stream, moved, "c", 5, 5) == target.json)
    val over = drain.settle(moved, DynamicPosition.of(2, Seq("a" -> ends)), t0, _ => Availability.Unknown).get
    assert(over.after.isEmpty)
  }

  test(
    "cutover: a second move waits for all drains of the stream, and so does a target that is removed again"
  ) {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x"), metadata(2, "b/x"), at(0, "a/x" -> 5))
    assert(one.after == SortedMap(topic("b/x") -> Set(topic("a/x"))))
    val two = take(drain, one, metadata(3, "c/x"), at(1, "a/x" -> 6))
    assert(two.after ==
      SortedMap(topic("b/x") -> Set(topic("a/x")), topic("c/x") -> Set(topic("a/x"), topic("b/x"))))
    val back = take(drain, two, metadata(4, "a/x"), at(2, "a/x" -> 6))
    assert(back.after == SortedMap(
      topic("a/x") -> Set(topic("b/x"), topic("c/x")),
      topic("c/x") -> Set(topic("b/x"))
    ))
  }

  test("a change is equal after a write and a read") {
    val drain = rules(OnRemoved.Drain)
    val one   = take(drain, applied("a/x", "a/y", "b/z"), metadata(2, "a/x"), at(0, "a/y" -> 5, "b/z" -> 6))
    val two   = drained(one, SortedMap(topic("a/y") -> kafka("y", 9)))
    val cut   = Place.At(t0)
    val left  = Removed("s", t0, kafka("r", 4).as("r", 2), kafka("r", 5), Some(Abandoned(None, "why")))
    val ends  = Place.Offsets(SortedMap("a" -> kafka("x", 7).offsets))
    val some  = Seq(Place.Earliest, Place.Latest, cut, ends).zipWithIndex.map { case (place, i) =>
      s"p$i" -> KafkaStream(s"p$i", SortedMap.empty, start = Some(place), stop = Some(place))
    }
    val all = two.copy(
      streams = two.streams ++ some,
      topics = two.topics ++ Seq(
        topic("a/x") -> Reading("s", SortedSet(topic("a/y"), topic("b/z")), Some(kafka("x", 1)), kafka("x", 2)),
        topic("a/y") -> Draining(
          "s",
          t0,
          Bound.Ends(kafka("y", 9)),
          SortedSet(topic("b/z")),
          kafka("y", 3),
          Some(t0),
          Some(Abandoned(Some(3), "why")),
          Some(kafka("y", 8))
        ),
        topic("a/t")  -> Draining("s", t0, Bound.At(cut)),
        topic("a/u")  -> Draining("s", t0, Bound.Within(Bound.At(cut))),
        topic("a/v")  -> Draining("s", t0, Bound.Within(Bound.Ends(kafka("v", 9)))),
        topic("a/w")  -> Draining("s", t0, Bound.Ends(kafka("w", 9), isSet = true)),
        topic("a/z")  -> Draining("s", t0, Bound.Within(Bound.Ends(kafka("z", 9), isSet = true))),
        topic("b/q")  -> Gone,
        topic("b/q2") -> Gone,
        topic("b/r")  -> left,
        topic("c/1")  -> Waiting("s", Some(cut), Some(left)),
        topic("c/2")  -> Waiting("s", None, Some(Gone)),
        topic("c/3")  -> Waiting("s", Some(cut), None)
      )
    )
    val log = new MemorySideLog
    assert(new ChangeEntries(log).append(all) == all)
    assert(new ChangeEntries(log).last.contains(all))
    // Another driver that decides again after a crash receives the first decision.
    assert(new ChangeEntries(log).append(all.copy(generation = Some(9))) == all)
  }

  test("a span over several changes ends removed topics at their end, and begins returned topics at their position") {
    val drop = rules(OnRemoved.Drop)
    val zero = applied("a/x", "a/y")
    val one  = take(drop, zero, metadata(2, "a/x"), at(0, "a/x" -> 1, "a/y" -> 5))
    val two  = take(drop, one, metadata(3, "a/x", "a/y"), at(1, "a/x" -> 2))
    def span(from: DynamicPosition, until: DynamicPosition, changes: AppliedMetadata*): Seq[String] =
      ChangeSpan.between(from, until, if (from.change == 0) zero else one, changes).map(s =>
        s"${s.cluster}: ${s.from.json} ${s.until.json}"
      )
    // The topic was removed within the span.
    assert(span(at(0, "a/x" -> 1, "a/y" -> 3), at(1, "a/x" -> 2), one) ==
      Seq("""a: {"x":{"0":1},"y":{"0":3}} {"x":{"0":2},"y":{"0":5}}"""))
    // The topic returned within the span.
    assert(span(at(1, "a/x" -> 2), at(2, "a/x" -> 2, "a/y" -> 8), two) ==
      Seq("""a: {"x":{"0":2},"y":{"0":5}} {"x":{"0":2},"y":{"0":8}}"""))
    // A removal and a return result in one range.
    assert(span(at(0, "a/x" -> 1, "a/y" -> 3), at(2, "a/x" -> 2, "a/y" -> 8), one, two) ==
      Seq("""a: {"x":{"0":1},"y":{"0":3}} {"x":{"0":2},"y":{"0":8}}"""))
    // The topic was removed before the span, so the span has no range of the topic.
    assert(span(at(1, "a/x" -> 2), at(1, "a/x" -> 3)) == Seq("""a: {"x":{"0":2}} {"x":{"0":3}}"""))
  }

  test(
    "a span over several changes has a topic that was added, drained and removed within the span, and no earlier topic"
  ) {
    val drain = rules(OnRemoved.Drain)
    val zero  = applied("a/x")
    val one   = take(drain, zero, metadata(2, "a/x", "b/y"), at(0, "a/x" -> 1))
    val two   = take(drain, one, metadata(3, "a/x"), at(1, "a/x" -> 1))
    val three = drained(two, SortedMap(topic("b/y") -> kafka("y", 9)))
    val four  = drain.settle(three, at(3, "a/x" -> 1, "b/y" -> 9), t0, _ => Availability.Unknown).get
    def span(before: AppliedMetadata, from: DynamicPosition, until: DynamicPosition, changes: AppliedMetadata*) =
      ChangeSpan.between(from, until, before, changes).map(s => s"${s.cluster}: ${s.from.json} ${s.until.json}")
    assert(span(zero, at(0, "a/x" -> 1), at(4, "a/x" -> 1), one, two, three, four) == Seq("""b: {} {"y":{"0":9}}"""))
    val five = take(drain, four, metadata(4, "a/x", "a/z"), at(4, "a/x" -> 1))
    assert(span(four, at(4, "a/x" -> 1), at(5, "a/x" -> 2), five) == Seq("""a: {"x":{"0":1}} {"x":{"0":2}}"""))
  }

  test("a span with a topic that returned at another position has one range before and one range after the return") {
    val drain             = rules(OnRemoved.Drain)
    val zero              = applied("a/x")
    val one               = take(drain, zero, metadata(2, "a/x", "a/y"), at(0, "a/x" -> 1))
    val two               = take(drain, one, metadata(3, "a/x"), at(1, "a/x" -> 1, "a/y" -> 3))
    val three             = drained(two, SortedMap(topic("a/y") -> kafka("y", 5)))
    val four              = drain.settle(three, at(3, "a/x" -> 1, "a/y" -> 5), t0, _ => Availability.Unknown).get
    def back(start: Long) = {
      val cut = Place.Offsets(SortedMap("a" -> (kafka("x", 9).offsets ++ kafka("y", start).offsets)))
      take(drain, four, goesOver(4, Some(cut), "a/y"), at(4, "a/x" -> 1))
    }
    def span(from: DynamicPosition, until: DynamicPosition, before: AppliedMetadata, changes: AppliedMetadata*) =
      ChangeSpan.between(from, until, before, changes).map(s => s"${s.from.json} ${s.until.json}")
    val read = at(3, "a/x" -> 1, "a/y" -> 3)
    for (start <- Seq(20L, 2L))
      assert(span(read, at(5, "a/x" -> 2, "a/y" -> 25), three, four, back(start)) == Seq(
        """{"y":{"0":3}} {"y":{"0":5}}""",
        s"""{"x":{"0":1},"y":{"0":$start}} {"x":{"0":2},"y":{"0":25}}"""
      ))
    assert(span(read, at(5, "a/x" -> 1, "a/y" -> 25), three, four, back(5)) ==
      Seq("""{"x":{"0":1},"y":{"0":3}} {"x":{"0":1},"y":{"0":25}}"""))
    // The topic was added, drained and returned within the span.
    assert(span(at(0, "a/x" -> 1), at(5, "a/x" -> 1, "a/y" -> 25), zero, one, two, three, four, back(20)) ==
      Seq("""{} {"y":{"0":5}}""", """{"x":{"0":1},"y":{"0":20}} {"x":{"0":1},"y":{"0":25}}"""))
    assert(span(at(0, "a/x" -> 1), at(5, "a/x" -> 1, "a/y" -> 25), zero, one, two, three, four, back(5)) ==
      Seq("""{"x":{"0":1}} {"x":{"0":1},"y":{"0":25}}"""))
  }

  test("a position is one line with sorted keys, and is equal after a read") {
    val position = at(3, "b/y" -> 2, "a/x" -> 1)
    assert(position.json == """{"change":3,"clusters":{"a":{"x":{"0":1}},"b":{"y":{"0":2}}},"v":1}""")
    assert(DynamicPosition.read(position.json) == position && position.precedes(at(3, "b/y" -> 2, "a/x" -> 2)))
    assert(!at(3, "a/x" -> 2).precedes(position) && !position.precedes(at(2, "b/y" -> 2, "a/x" -> 2)))
  }
}
