// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.internal.state._
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.internal.entries.VersionedEntry

/** Changes of thousands of topics of one stream. The limit of a test separates seconds from hours. */
final class LargeChangesSuite extends AnyFunSuite {

  import StreamsAt._

  private val t0    = Instant.parse("2026-01-01T00:00:00Z")
  private val rules = new ChangeRules(RemovalRules(OnRemoved.Drain, maxFraction = 1.0))

  private def names(prefix: String, number: Int): Seq[String] = (0 until number).map(n => f"a/$prefix%s$n%05d")

  private def positions(change: Int, names: Seq[String], offset: Long): DynamicPosition = DynamicPosition.of(
    change,
    Seq("a" -> KafkaPosition.of(names.map(name => LogPartition(topic(name).topic, 0) -> offset)))
  )

  private def within(body: => Unit): Unit = Await.result(Future(body)(ExecutionContext.global), 60.seconds)

  /** Returns the state after a restart. */
  private def restarted(at: AppliedMetadata): AppliedMetadata = {
    val lines = AppliedMetadataFormat.write(at)
    val size  = lines.iterator.map(_.length.toLong).sum / at.topics.size
    assert(size < 400, s"the entry has $size characters per topic")
    AppliedMetadataFormat.read(VersionedEntry.read("change", lines))
  }

  /** Returns the topics for which all topics with a prefix wait, which share one set. */
  private def awaited(at: AppliedMetadata, prefix: String): SortedSet[ClusterTopic] = {
    val sets = at.topics.toSeq.collect { case (t, is: Reading) if t.topic.startsWith(prefix) => is.after }
    assert(sets.forall(set => set.isEmpty || (set eq sets.head)))
    sets.head
  }

  test("a stream moves from 10,000 topics to 10,000 topics, and the drain ends in several steps") {
    val number     = 10000
    val (old, now) = (names("x", number), names("y", number))
    within {
      val moved =
        rules.take(applied(old: _*), metadata(2, now: _*), _ => true, positions(0, old, 5), t0, t0)
      val first = restarted(moved)
      assert(awaited(first, "y") == SortedSet.from(old.map(topic(_))))
      val lines = AppliedMetadataFormat.write(moved)
      assert(AppliedMetadataFormat.write(first) == lines && lines.count(_.contains("\"after\":{")) == 1)
      val ends    = SortedMap.from(old.map(name => topic(name) -> kafka(topic(name).topic, 9)))
      val bounded = restarted(rules.drain(first, positions(1, old, 5), ends, t0))
      val quarter = number / 4
      val last    = (1 to 4).foldLeft(bounded) { (at, step) =>
        val read = positions(at.number, old.take(step * quarter), 9)
        val next = restarted(rules.settle(at, read, t0, _ => Availability.Available).get)
        assert(next.draining.size == number - step * quarter)
        assert(awaited(next, "y").size == number - step * quarter)
        next
      }
      assert(last.removed.size == number && last.after.isEmpty)
    }
  }

  test("10,000 topics begin while 10,000 topics of their stream are drained") {
    val number     = 10000
    val (old, now) = (names("x", number), names("y", number))
    within {
      val moved    = rules.take(applied(old: _*), metadata(2, now: _*), _ => true, positions(0, old, 5), t0, t0)
      val waiting  = now.map(name => topic(name) -> Waiting("s", None, None))
      val starts   = SortedMap.from(now.map(name => topic(name) -> kafka(topic(name).topic, 3)))
      val position = positions(1, old, 5)
      val begun    = rules.begin(moved.copy(topics = moved.topics ++ waiting), position, starts, t0)
      assert(awaited(restarted(begun), "y") == SortedSet.from(old.map(topic(_))))

      // The drained topics wait for the topics that begin, so that the topics that begin do not wait for them.
      val removed  = now.map(name => topic(name) -> Pending(Waiting("s", None, None), t0))
      val starting = SortedSet.from(starts.keys)
      val draining = old.map(name => topic(name) -> Draining("s", t0, Bound.Requested, starting))
      val left     = moved.copy(topics = SortedMap.from(draining ++ removed), streams = SortedMap.empty)
      val ended    = rules.begin(left, position, starts, t0)
      assert(ended.draining.size == 2 * number && now.forall(name => ended.draining(topic(name)).after.isEmpty))
    }
  }

  test("a document with 130,000 topics whose names have equal hash codes is accepted") {
    val names = (1 to 17).foldLeft(Seq(""))((all, _) => all.flatMap(name => Seq(s"${name}Aa", s"${name}BB")))
    assert(names.size == 131072 && names.forall(_.hashCode == names.head.hashCode))
    val topics   = SortedMap("a" -> SortedSet.from(names))
    val document = metadata(2, "a/x").copy(streams = SortedMap("s" -> KafkaStream("s", topics)))
    within {
      assert(rules.rejection(AppliedMetadata.Nothing, document).isEmpty)
    }
  }

  test("20,000 streams that move by a cutover are planned") {
    val number  = 20000
    val cutover = Place.At(t0.plusSeconds(60))

    def document(generation: Long, prefix: String, cutover: Option[Place]) =
      metadata(generation, "a/x").copy(streams = SortedMap.from((0 until number).map { n =>
        val name = f"s$n%05d"
        name -> KafkaStream(name, SortedMap("a" -> SortedSet(s"$prefix$name")), cutover)
      }))

    within {
      val before = AppliedMetadata.first(document(1, "x", None))
      val read   = positions(0, before.topics.keys.map(_.toString).toSeq, 5)
      val moved  = rules.take(before, document(2, "y", Some(cutover)), _ => true, read, t0, t0)
      assert(moved.draining.size == number && moved.draining.values.forall(_.bound == Bound.At(cutover)))
      assert(moved.waiting.size == number && moved.waiting.values.forall(_.time.contains(cutover)))
      assert(rules.cutovers.rejection(before, document(2, "y", Some(cutover)), read).isEmpty)
    }
  }
}
