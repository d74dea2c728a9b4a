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
import splice.kafka.dynamic.internal.state.{AppliedMetadata, Availability, ChangeDescription, ChangeEntries}
import splice.kafka.dynamic.{KafkaStream, StreamMetadata}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Tests of cutovers in the metadata. */
final class CutoverRulesSuite extends AnyFunSuite {

  import StreamsAt._

  private val t0     = Instant.parse("2026-01-01T00:00:00Z")
  private val minute = Duration.ofMinutes(1)
  private val atT    = Place.At(t0.plus(minute), minute)
  private val rules  = new ChangeRules(RemovalRules(maxFraction = 1.0))
  private val cuts   = rules.cutovers
  private val moving = goesOver(2, Some(atT), "b/x")

  private def offsets(all: (String, Long)*): Place.Offsets =
    Place.Offsets(SortedMap.from(all.groupMap(o => topic(o._1).cluster) { case (name, offset) =>
      LogPartition(topic(name).topic, 0) -> offset
    }.map { case (cluster, some) => cluster -> SortedMap.from(some) }))

  private def take(from: AppliedMetadata, found: StreamMetadata, position: DynamicPosition): AppliedMetadata =
    rules.take(from, found, _ => true, position, t0, t0)

  private def places(requested: Instant, all: (String, OffsetForTime)*): Map[ClusterTopic, OffsetsForTime] = all.map {
    case (name, place) => topic(name) -> OffsetsForTime(requested, 0, Map(LogPartition(topic(name).topic, 0) -> place))
  }.toMap

  private def refused(rejection: Option[Rejection], words: String*): Boolean = rejection.exists {
    case Rejection.Cutover("s", why) => words.forall(why.contains)
    case _                           => false
  }

  private val ahead = take(applied("a/x"), moving, at(0, "a/x" -> 5))

  test("at a time: the old topic is read up to the time, and the new topic from the time on") {
    assert(ahead.draining(topic("a/x")).bound == Bound.At(atT) && ahead.times == SortedMap(topic("b/x") -> atT))
    assert(ahead.read.keySet == Set("a", "b") && ahead.streamOf(topic("b/x")) == "s" && ahead.starts.isEmpty)
    assert(cuts.due(ahead, t0).isEmpty && rules.cut(ahead, at(1), t0, Map.empty).isEmpty)
    assert(rules.settle(ahead, at(1, "a/x" -> 9), t0.plus(minute), _ => Availability.Unknown).isEmpty)
  }

  test(
    "at a time: after the time, one change ends the old topic and starts the new topic at their first records of the time"
  ) {
    val now = atT.time
    assert(cuts.due(ahead, now) == Map(topic("a/x") -> atT.millis, topic("b/x") -> atT.millis))
    val reported = places(now, "a/x" -> OffsetForTime(Some(9), 12), "b/x" -> OffsetForTime(Some(4), 6))
    val alone    = rules.cut(ahead, at(1, "a/x" -> 7), now, reported - topic("b/x")).get
    assert(alone.waiting == ahead.waiting && cuts.due(alone, now) == cuts.due(ahead, now))
    val over = rules.cut(ahead, at(1, "a/x" -> 7), now, reported).get
    assert(over.number == 2 && over.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 9)))
    assert(over.waiting.isEmpty && over.starts == SortedMap(topic("b/x") -> kafka("x", 4)))
    assert(over.read.keySet == Set("a", "b") && over.after(topic("b/x")) == Set(topic("a/x")))
    assert(cuts.due(over, now).isEmpty)
  }

  test("at a time: a topic without a record of the time is awaited, and then ends or begins at the end of its log") {
    val early                   = atT.time.plus(minute).minusMillis(1)
    val late                    = atT.time.plus(minute)
    def cut(requested: Instant) = rules.cut(
      ahead,
      at(1, "a/x" -> 7),
      late,
      places(requested, "a/x" -> OffsetForTime(None, 12), "b/x" -> OffsetForTime(Some(4), 6))
    )
    assert(cut(early).get.draining == ahead.draining && cut(early).get.starts.isEmpty)
    assert(cut(late).get.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 12)))
    val fromEnd = rules.cut(
      ahead,
      at(1, "a/x" -> 7),
      late,
      places(late, "a/x" -> OffsetForTime(Some(9), 12), "b/x" -> OffsetForTime(None, 6))
    )
    assert(fromEnd.get.starts == SortedMap(topic("b/x") -> kafka("x", 6)))
    val none = places(late, "a/x" -> OffsetForTime(Some(9), 12)) + (topic("b/x") -> OffsetsForTime(late, 0, Map.empty))
    assert(rules.cut(ahead, at(1, "a/x" -> 7), late, none).get.waiting == ahead.waiting)
  }

  test("at a time: if the old cluster is abandoned, the new topic begins at the time") {
    val later = t0.plus(Duration.ofHours(2))
    val dead  = Availability.Unavailable(t0, responded = false, Seq.fill(Availability.Requests)(later))
    val over  = rules.settle(ahead, at(1, "a/x" -> 5), later, _ => dead).get
    assert(over.draining.isEmpty && over.times.keySet == Set(topic("b/x")) && over.read.keySet == Set("b"))
    assert(ChangeDescription.warnings(
      ahead,
      over
    ).head.contains(s"the number of unread rows before ${atT.time} is unknown (partition 0 from 5, end unknown)"))
    assert(cuts.due(over, later).keySet == Set(topic("b/x")))
    val last = rules.cut(over, at(2), later, places(later, "b/x" -> OffsetForTime(Some(4), 6))).get
    assert(last.starts == SortedMap(topic("b/x") -> kafka("x", 4)))
  }

  test("at a time: if the old cluster is abandoned, offsets for the same new topic replace the time") {
    val later = t0.plus(Duration.ofHours(2))
    val dead  = Availability.Unavailable(t0, responded = false, Seq.fill(Availability.Requests)(later))
    val over  = rules.settle(ahead, at(1, "a/x" -> 5), later, _ => dead).get
    val fixed = goesOver(3, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x")
    assert(cuts.replaced(over, fixed, later).isEmpty && cuts.rejection(over, fixed, at(2)).isEmpty)
    val last = rules.take(over, fixed, _ => true, at(2), later, later)
    assert(last.waiting.isEmpty && last.starts == SortedMap(topic("b/x") -> kafka("x", 4)))
    assert(last.expected == last.starts && last.removed == over.removed)
    // The offsets of the abandoned topic are rejected as before.
    val before = goesOver(3, Some(offsets("a/x" -> 3, "b/x" -> 2)), "b/x")
    assert(refused(cuts.rejection(over, before, at(2)), "a/x", "was read up to 5 already, and would end at 3"))
  }

  test("at a time: a topic that another stream receives keeps the time") {
    val later = Place.At(t0.plus(minute.multipliedBy(3)), minute)
    val taken = StreamMetadata(
      Some(3),
      goesOver(3, None, "b/x").clusters,
      SortedMap("t" -> KafkaStream("t", SortedMap("b" -> SortedSet("x")), Some(later)))
    )
    assert(StreamMove.all(ahead, taken).isEmpty)
  }

  test("at a time: a document is rejected after records of the time were read, and applied before") {
    val read = at(0, "a/x" -> 5)
    assert(cuts.times(applied("a/x"), moving, read) == Map(topic("a/x") -> atT.millis))
    def rejection(first: Option[Long]) =
      cuts.rejection(applied("a/x"), moving, read, places(t0, "a/x" -> OffsetForTime(first, 9)))
    assert(refused(rejection(Some(4)), "a/x", "partition 0 up to 5", "time is 4", atT.time.toString))
    assert(rejection(Some(5)).isEmpty && rejection(None).isEmpty)
    val recreated = places(t0, "a/x" -> OffsetForTime(Some(4), 9)).view.mapValues(_.copy(generation = 1)).toMap
    assert(cuts.rejection(applied("a/x"), moving, read, recreated).isEmpty)
  }

  test("at a time: a document whose cutover is after the stop of its stream is rejected") {
    def stopped(at: Instant) = moving.copy(streams = moving.streams.map { case (name, stream) =>
      name -> stream.copy(stop = Some(Place.At(at)))
    })
    assert(cuts.rejection(applied("a/x"), stopped(atT.time), at(0)).isEmpty)
    assert(refused(
      cuts.rejection(applied("a/x"), stopped(atT.time.minusMillis(1)), at(0)),
      "after the stop of the stream"
    ))
  }

  test("at a time: before the time, the time may change and the move may be reverted or get another target") {
    val other = Place.At(t0.plusSeconds(5), minute)
    val moved = take(ahead, goesOver(3, Some(other), "b/x"), at(1, "a/x" -> 6))
    assert(moved.draining(topic("a/x")).bound == Bound.At(other) && moved.times(topic("b/x")) == other)
    val back = take(ahead, goesOver(3, Some(atT), "a/x"), at(1, "a/x" -> 6))
    assert(back.draining.isEmpty && back.waiting.isEmpty && back.read.keySet == Set("a"))
    val third = take(ahead, goesOver(3, Some(atT), "c/x"), at(1, "a/x" -> 6))
    assert(third.draining.keySet == Set(topic("a/x")) && third.times.keySet == Set(topic("c/x")))
    val mapped = take(ahead, goesOver(3, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x"), at(1, "a/x" -> 6))
    assert(mapped.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 9), isSet = true) && mapped.waiting.isEmpty)
    assert(mapped.starts == SortedMap(topic("b/x") -> kafka("x", 4)))
  }

  test("at a time: after the time, only offsets for the same new topics replace the cutover") {
    val mapped = offsets("a/x" -> 9, "b/x" -> 4, "c/x" -> 2)
    assert(cuts.replaced(ahead, goesOver(3, Some(mapped), "b/x"), atT.time).isEmpty)
    assert(cuts.replaced(ahead, goesOver(3, Some(mapped), "c/x"), atT.time).keySet == cuts.due(ahead, atT.time).keySet)
    val over = take(ahead, goesOver(3, Some(mapped), "b/x"), at(1, "a/x" -> 6))
    assert(over.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 9), isSet = true))
    assert(over.starts == SortedMap(topic("b/x") -> kafka("x", 4)))
  }

  test("at a time: a topic that was read earlier begins at the time, and keeps its old position until then") {
    val base  = applied("a/x")
    val left  = base.copy(topics = base.topics + (topic("b/x") -> Removed("s", t0, kafka("x", 3))))
    val found = take(left, moving, at(0, "a/x" -> 5))
    assert(found.starts.isEmpty && found.waiting(topic("b/x")).before.contains(left.topics(topic("b/x"))))
    val over = rules.cut(
      found,
      at(1, "a/x" -> 7),
      atT.time,
      places(atT.time, "a/x" -> OffsetForTime(Some(9), 12), "b/x" -> OffsetForTime(Some(8), 9))
    ).get
    assert(over.starts(topic("b/x")) == kafka("x", 8) && over.removed.isEmpty)
    val back = take(found, metadata(3, "a/x"), at(1, "a/x" -> 7))
    assert(back.removed(topic("b/x")) == kafka("x", 3))
  }

  test("at a time: the first offsets of a topic are kept while the cutover waits for another topic") {
    def found(cluster: String, first: Long) = places(atT.time, cluster -> OffsetForTime(Some(first), 12))
    val old                                 = rules.cut(ahead, at(1), atT.time, found("a/x", 9)).get
    val both                                = rules.cut(old, at(2), atT.time, found("b/x", 4)).get
    val later                               = found("a/x", 10) ++ found("b/x", 6)
    assert(old.draining(topic("a/x")).bound == Bound.At(atT, kafka("x", 9)) && old.waiting == ahead.waiting)
    assert(rules.cut(old, at(2), atT.time, found("a/x", 10)).isEmpty)
    assert(both.waiting(topic("b/x")).offsets == kafka("x", 4))
    // A later document with the same cutover keeps the offsets, and a recreated topic does not.
    val again = take(both, moving.copy(generation = Some(3)), at(3))
    assert(again.draining(topic("a/x")).bound == both.draining(topic("a/x")).bound && again.waiting == both.waiting)
    val longer = atT.copy(lateness = atT.lateness.multipliedBy(2))
    val other  = take(again, goesOver(4, Some(longer), "b/x"), at(4))
    assert(other.draining(topic("a/x")).bound == Bound.At(longer, kafka("x", 9)))
    assert(other.waiting(topic("b/x")).time.contains(longer) && other.waiting(topic("b/x")).offsets == kafka("x", 4))
    val over = rules.cut(again, at(4), atT.time, later).get
    assert(over.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 9)))
    assert(over.starts == SortedMap(topic("b/x") -> kafka("x", 4)))
    val recreated = later.map { case (topic, place) => topic -> place.copy(generation = 1) }
    val renewed   = rules.cut(again, at(4), atT.time, recreated).get
    assert(renewed.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 10).as("x", 1)))
    assert(renewed.starts == SortedMap(topic("b/x") -> kafka("x", 6).as("x", 1)))
  }

  test("at a time: the end of a partition without a record of that time is not kept while the cutover waits") {
    val late                         = atT.time.plus(minute)
    val (p0, p1)                     = (LogPartition("x", 0), LogPartition("x", 1))
    def found(second: OffsetForTime) =
      Map(topic("a/x") -> OffsetsForTime(late, 0, Map(p0 -> OffsetForTime(Some(9), 12), p1 -> second)))
    def bound(of: AppliedMetadata)           = of.draining(topic("a/x")).bound
    def ends(offsets: (LogPartition, Long)*) = Bound.At(atT, KafkaPosition.of(offsets.toMap))
    val none                                 = found(OffsetForTime(None, 4))
    val one                                  = rules.cut(ahead, at(1), late, none).get
    assert(bound(one) == ends(p0 -> 9) && rules.cut(one, at(2), late, none).isEmpty)
    val both = rules.cut(one, at(2), late, found(OffsetForTime(Some(6), 7))).get
    assert(bound(both) == ends(p0 -> 9, p1 -> 6) && rules.cut(both, at(3), late, none).isEmpty)
  }

  test("mapped offsets: the old topic is drained to its offsets, and the new topic begins at its offsets") {
    val mapped = goesOver(2, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x", "b/y")
    assert(cuts.rejection(applied("a/x"), mapped, at(0, "a/x" -> 9)).isEmpty &&
      cuts.times(applied("a/x"), mapped, at(0)).isEmpty)
    val over = take(applied("a/x"), mapped, at(0, "a/x" -> 5))
    assert(over.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 9), isSet = true) && over.waiting.isEmpty)
    assert(over.starts == SortedMap(topic("b/x") -> kafka("x", 4)) &&
      over.after.keySet == Set(topic("b/x"), topic("b/y")))
  }

  test(
    "mapped offsets: the start of the new topic is kept until it is read, even if the topic is removed and returns"
  ) {
    val mapped = goesOver(2, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x")
    val start  = SortedMap(topic("b/x") -> kafka("x", 4))
    val over   = take(applied("a/x"), mapped, at(0, "a/x" -> 5))
    assert(over.expected == start && over.expectedOn("b") == kafka("x", 4) &&
      over.expectedOn("a") == KafkaPosition.Empty)
    val drained = rules.settle(over, at(1, "a/x" -> 9, "b/x" -> 4), t0, _ => Availability.Unknown).get
    assert(drained.draining.isEmpty && drained.expected == start)
    val gone = take(drained, metadata(3, "c/x"), at(2, "b/x" -> 4))
    assert(gone.expected == start)
    assert(take(gone, metadata(4, "b/x"), at(3, "b/x" -> 4)).expected == start)
    assert(take(drained, metadata(3, "b/x", "c/x"), at(2, "b/x" -> 5)).expected.isEmpty)
  }

  private def partitions(topic: String, offsets: Long*): KafkaPosition =
    KafkaPosition.of(offsets.zipWithIndex.map { case (offset, p) => LogPartition(topic, p) -> offset })

  test("mapped offsets: partitions without an offset resume at the kept position of a topic that was read earlier") {
    val mapped = goesOver(2, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x")
    val kept   = Removed("s", t0, partitions("x", 3, 7).as("x", 1), expected = partitions("x", 6, 8).as("x", 1))
    val base   = applied("a/x")
    val states = Seq(kept, Waiting("s", Some(atT), Some(kept)), Pending(Waiting("s", None, Some(kept)), t0))
    states.foreach { before =>
      val left = base.copy(topics = base.topics + (topic("b/x") -> before))
      val over = take(left, mapped, at(0, "a/x" -> 5))
      assert(over.starts == SortedMap(topic("b/x") -> partitions("x", 4, 7).as("x", 1)))
      assert(over.expected == SortedMap(topic("b/x") -> partitions("x", 4, 8).as("x", 1)))
    }
  }

  test("mapped offsets: if no position is kept, the cluster returns the start of partitions without an offset") {
    val mapped = goesOver(2, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x")
    val base   = applied("a/x")
    // A topic whose drain ended before its cluster returned the start has no position.
    val ended = Removed("s", t0, KafkaPosition.Empty)
    for (before <- Seq(Some(Gone), Some(ended), None); isTimed <- Seq(false, true)) {
      val state    = if (isTimed) Some(Waiting("s", Some(atT), before)) else before
      val left     = base.copy(topics = base.topics ++ state.map(topic("b/x") -> _))
      val hasBegun = !before.contains(Gone)
      val over     = rules.take(left, mapped, _ => true, at(0, "a/x" -> 5), t0, t0, hasBegun = _ => hasBegun)
      assert(over.waiting == SortedMap(topic("b/x") -> Waiting("s", None, before, kafka("x", 4))), s"$state")
      assert(over.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 9), isSet = true) && over.starts.isEmpty)
      // A later document without the cutover does not change the start.
      val later = rules.take(over, metadata(3, "b/x"), _ => true, at(1, "a/x" -> 6), t0, t0, hasBegun = _ => hasBegun)
      assert(later.waiting == over.waiting)
      val log = new MemorySideLog
      assert(new ChangeEntries(log).append(later) == later && new ChangeEntries(log).last.contains(later))
      val begun = rules.begin(later, at(2, "a/x" -> 6), SortedMap(topic("b/x") -> partitions("x", 0, 2).as("x", 1)), t0)
      assert(begun.waiting.isEmpty && begun.starts == SortedMap(topic("b/x") -> partitions("x", 4, 2).as("x", 1)))
      assert(begun.expected == SortedMap(topic("b/x") -> kafka("x", 4).as("x", 1)))
      val move = goesOver(4, Some(offsets("b/x" -> 9, "c/x" -> 4)), "c/x")
      assert(refused(cuts.rejection(later, move, at(2, "a/x" -> 6)), "not returned the start of b/x"))
      assert(cuts.rejection(begun, move, at(2, "a/x" -> 6, "b/x" -> 4)).isEmpty)
      // A removal before the response of the cluster keeps the offsets for the drain.
      val removed = rules.take(later, metadata(4, "a/x"), _ => true, at(2, "a/x" -> 6), t0, t0)
      assert(removed.pending(topic("b/x")).waiting == later.waiting(topic("b/x")))
      assert(new ChangeEntries(log).append(removed.copy(number = 5)) == removed.copy(number = 5))
      val drain =
        rules.begin(removed, at(3, "a/x" -> 6), SortedMap(topic("b/x") -> partitions("x", 0, 2).as("x", 1)), t0)
      assert(drain.draining(topic("b/x")).start.contains(partitions("x", 4, 2).as("x", 1)))
      // A document that contains the topic again continues with the offsets.
      val back = rules.take(removed, metadata(5, "b/x"), _ => true, at(3, "a/x" -> 6), t0, t0, _ => hasBegun)
      assert(back.waiting == later.waiting && back.pending.isEmpty)
    }
  }

  test("mapped offsets: a new topic without an offset does not begin at the time that the offsets replace") {
    val over = take(ahead, goesOver(3, Some(offsets("a/x" -> 9)), "b/x"), at(1, "a/x" -> 5))
    assert(over.waiting == SortedMap(topic("b/x") -> Waiting("s", None, None)))
    assert(over.draining(topic("a/x")).bound == Bound.Ends(kafka("x", 9), isSet = true))
  }

  test("mapped offsets: an old topic must end after its position, and have an end for each partition") {
    val mapped = goesOver(2, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x", "b/y")
    assert(refused(cuts.rejection(applied("a/x"), mapped, at(0, "a/x" -> 10)), "a/x", "up to 10", "end at 9"))
    assert(refused(cuts.rejection(applied("a/y"), mapped, at(0, "a/y" -> 1)), "a/y", "has no offset"))
  }

  test("a cutover requires onRemoved=drain and topics that are not draining") {
    val drop = new ChangeRules(RemovalRules(OnRemoved.Drop)).cutovers
    assert(refused(drop.rejection(applied("a/x"), moving, at(0)), "'onRemoved' is 'drop'"))
    assert(refused(drop.policy(moving)) && drop.policy(metadata(1, "a/x")).isEmpty)
    val base     = applied("a/x")
    val draining =
      base.copy(topics = base.topics + (topic("b/x") -> Draining("s", t0, Bound.Ends(kafka("x", 3)))))
    assert(refused(cuts.rejection(draining, moving, at(0, "a/x" -> 1)), "b/x is still drained"))
  }

  test("a cutover has no effect in a document without a move") {
    val same = goesOver(2, Some(atT), "a/x")
    val more = goesOver(2, Some(atT), "a/x", "b/x")
    assert(take(applied("a/x"), same, at(0, "a/x" -> 5)).waiting.isEmpty)
    assert(take(applied("a/x"), more, at(0, "a/x" -> 5)).waiting.isEmpty)
    assert(cuts.rejection(applied("a/x"), more, at(0, "a/x" -> 5)).isEmpty)
  }

  test("a change is equal after a write and a read") {
    val mapped = take(applied("a/x"), goesOver(2, Some(offsets("a/x" -> 9, "b/x" -> 4)), "b/x"), at(0, "a/x" -> 5))
    val fixed  = rules.cut(ahead, at(1), atT.time, places(atT.time, "a/x" -> OffsetForTime(Some(9), 12))).get
    Seq(ahead, mapped, fixed).foreach { all =>
      val log = new MemorySideLog
      assert(new ChangeEntries(log).append(all) == all && new ChangeEntries(log).last.contains(all))
    }
    assert(ahead.equalsDocument(moving) && !ahead.equalsDocument(metadata(2, "b/x")))
  }
}
