// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.change.RecentRemovals.{Nothing, Recent}
import splice.kafka.dynamic.internal.errors.{DynamicErrors, MetadataErrors}
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.dynamic.{KafkaStream, StreamMetadata}

/** Tests of documents that are rejected as a whole. */
final class RejectionSuite extends AnyFunSuite {

  import StreamsAt._

  private val t0   = Instant.parse("2026-01-01T00:00:00Z")
  private val half = new ChangeRules(RemovalRules())

  private def rejection(at: AppliedMetadata, found: StreamMetadata, recent: Recent = Nothing) =
    half.rejection(at, found, recent)

  test("documents that are older, remove many or all topics, or have a duplicate topic are rejected") {
    val known = applied("a/1", "a/2", "b/3", "b/4")
    assert(
      rejection(
        known.copy(generation = Some(5)),
        metadata(4, "a/1", "a/2", "b/3", "b/4")
      ).contains(Rejection.Older(5, 4))
    )
    assert(rejection(known, metadata(2, "a/1", "a/2")).isEmpty)
    assert(rejection(known, metadata(2, "a/1")).contains(Rejection.TooMany(3, 4, 2)))
    assert(rejection(applied("a/1", "a/2"), metadata(2, "a/1")).isEmpty)
    val both = metadata(2, "a/1", "a/2", "b/3", "b/4")
    val more = both.copy(streams = both.streams + ("t" -> KafkaStream("t", SortedMap("a" -> SortedSet("1")))))
    assert(rejection(known, more).contains(Rejection.Twice(topic("a/1"), Seq("s", "t"))))
  }

  test("two errors of an invalid document are one rejection if their texts are equal, and the error is unchanged") {
    def invalid(line: Int) = MetadataErrors.invalid("streams.yaml", line, "clusters", "not an object")
    val error              = invalid(3)
    val why                = Rejection.invalid(error)
    assert(why == Rejection.invalid(invalid(3)) && why != Rejection.invalid(invalid(4)))
    assert(DynamicErrors.rejected(why) eq error)
  }

  test("neither a fraction of 1 nor confirmRemovals permits the removal of all topics") {
    val all   = new ChangeRules(RemovalRules(maxFraction = 1))
    val known = applied("a/1", "a/2", "b/3", "b/4")
    val many  = Recent(9, 4)
    assert(all.rejection(known, metadata(2, "a/1"), many).isEmpty)
    assert(all.rejection(known, metadata(2), many).contains(Rejection.Empty(4)))
    assert(rejection(known, metadata(2).copy(confirmRemovals = Some(4))).contains(Rejection.Empty(4)))
  }

  test("the removals of the last 24 hours are compared with the greatest number of topics in that time") {
    val known  = applied("a/1", "a/2", "a/3", "a/4")
    val one    = metadata(2, "a/1", "a/2", "a/3")
    val recent = Recent(4, 10)
    assert(rejection(known, one, recent).isEmpty)
    assert(rejection(known, metadata(2, "a/1", "a/2"), recent).contains(Rejection.TooMany(6, 10, 5)))
    assert(rejection(known, one, Recent(2, 4)).contains(Rejection.TooMany(3, 4, 2)))
    assert(rejection(applied("a/1", "a/2"), metadata(2, "a/1"), Recent(1, 3)).contains(Rejection.TooMany(2, 3, 1)))
    // Earlier changes are read only for a document that removes topics.
    def unread: Recent = throw new AssertionError("earlier changes are read")
    assert(half.rejection(known, metadata(2, "a/1", "a/2", "a/3", "a/4", "b/5"), unread).isEmpty)
  }

  test("topics that a stream replaces are not removals, but topics of a removed stream are") {
    val known = applied("a/1", "a/2", "a/3", "a/4")
    assert(rejection(known, metadata(2, "b/1", "b/2", "b/3", "b/4"), Recent(9, 4)).isEmpty)
    assert(rejection(known, metadata(2, "b/1"), Recent(0, 4)).contains(Rejection.TooMany(3, 4, 2)))
    val other = metadata(2, "b/1", "b/2", "b/3", "b/4").streams("s").copy(name = "t")
    val moved = metadata(2, "b/1", "b/2", "b/3", "b/4").copy(streams = SortedMap("t" -> other))
    assert(rejection(known, moved).contains(Rejection.TooMany(4, 4, 2)))
    // A renamed stream removes no topic.
    val renamed = metadata(2, "a/1", "a/2", "a/3", "a/4").streams("s").copy(name = "t")
    assert(rejection(known, metadata(2, "a/1").copy(streams = SortedMap("t" -> renamed)), Recent(9, 4)).isEmpty)
  }

  test("confirmRemovals permits a number of removals within 24 hours, and does not make documents different") {
    val known             = applied("a/1", "a/2", "a/3", "a/4")
    def confirmed(n: Int) = metadata(2, "a/1").copy(confirmRemovals = Some(n))
    val why               = rejection(known, metadata(2, "a/1"), Recent(2, 6))
    assert(why.contains(Rejection.TooMany(5, 6, 3)))
    assert(why.exists(DynamicErrors.rejected(_).getMessage.contains("'confirmRemovals: 5'")))
    assert(rejection(known, confirmed(4), Recent(2, 6)).contains(Rejection.TooMany(5, 6, 3)))
    assert(rejection(known, confirmed(5), Recent(2, 6)).isEmpty && rejection(known, confirmed(1)).nonEmpty)
    // A number below the limit of the fraction does not lower it.
    assert(rejection(known, metadata(2, "a/1", "a/2").copy(confirmRemovals = Some(1))).isEmpty)
    assert(known.equalsDocument(metadata(2, "a/1", "a/2", "a/3", "a/4").copy(confirmRemovals = Some(3))))
  }

  test("the changes of 24 hours and the previous change are counted, and are read only once") {
    def change(number: Int, topics: Int, hours: Long) = applied((1 to topics).map(n => s"a/$n"): _*)
      .copy(number = number, at = Some(t0.plus(Duration.ofHours(hours))))
    val all      = Seq(change(0, 8, 0), change(1, 9, 1), change(2, 7, 20), change(3, 4, 30), change(4, 4, 31))
    var read     = Vector.empty[Int]
    val removals = new RecentRemovals(n => {
      read :+= n
      all.lift(n)
    })
    def until(last: Int, hours: Long) = removals.until(last, t0.plus(Duration.ofHours(hours)))
    assert(until(4, 32) == Recent(5, 9) && !read.contains(-1))
    read = Vector.empty
    assert(until(4, 44) == Recent(3, 7) && read.isEmpty)
    assert(until(4, 54) == Recent(0, 4) && until(4, 99) == Recent(0, 4))
    // Changes that were purged are not counted.
    assert(new RecentRemovals(n => all.lift(n).filter(_.number >= 2)).until(4, t0.plus(Duration.ofHours(32))) ==
      Recent(3, 7))
    assert(new RecentRemovals(all.lift).until(1, t0.plus(Duration.ofHours(2))) == Recent(0, 9))
  }

  test("topics of a renamed cluster are not counted as removed, also if their stream has a new name") {
    val was     = applied("a/1", "a/2").copy(at = Some(t0))
    val is      = applied("b/1", "b/2")
    val renamed = is.streams.map { case (_, stream) => "other" -> stream.copy(name = "other") }
    val change  = is.copy(number = 1, streams = renamed, renames = SortedMap("a" -> "b"), at = Some(t0))
    assert(new RecentRemovals(Seq(was, change).lift).until(1, t0) == Recent(0, 2))
  }
}
