// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.errors.{DynamicErrors, MetadataErrors}
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.dynamic.{KafkaStream, StreamMetadata}

/** Tests of documents that are rejected as a whole. */
final class RejectionSuite extends AnyFunSuite {

  import StreamsAt._

  private val half = new ChangeRules(RemovalRules())

  private def rejection(at: AppliedMetadata, found: StreamMetadata) = half.rejection(at, found)

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

  test("the number of removals that a fraction permits is rounded down, and is at least one") {
    val three = applied("a/1", "a/2", "a/3")
    assert(rejection(three, metadata(2, "a/1", "a/2")).isEmpty)
    assert(rejection(three, metadata(2, "a/1")).contains(Rejection.TooMany(2, 3, 1)))
    val few = new ChangeRules(RemovalRules(maxFraction = 0.1))
    assert(few.rejection(three, metadata(2, "a/1", "a/2")).isEmpty)
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
    assert(all.rejection(known, metadata(2, "a/1")).isEmpty)
    assert(all.rejection(known, metadata(2)).contains(Rejection.Empty(4)))
    assert(rejection(known, metadata(2).copy(confirmRemovals = Some(4))).contains(Rejection.Empty(4)))
  }

  test("topics that a stream replaces are not removals, but topics of a removed stream are") {
    val known = applied("a/1", "a/2", "a/3", "a/4")
    assert(rejection(known, metadata(2, "b/1", "b/2", "b/3", "b/4")).isEmpty)
    assert(rejection(known, metadata(2, "b/1")).contains(Rejection.TooMany(3, 4, 2)))
    val other = metadata(2, "b/1", "b/2", "b/3", "b/4").streams("s").copy(name = "t")
    val moved = metadata(2, "b/1", "b/2", "b/3", "b/4").copy(streams = SortedMap("t" -> other))
    assert(rejection(known, moved).contains(Rejection.TooMany(4, 4, 2)))
    // A renamed stream removes no topic.
    val renamed = metadata(2, "a/1", "a/2", "a/3", "a/4").streams("s").copy(name = "t")
    assert(rejection(known, metadata(2, "a/1").copy(streams = SortedMap("t" -> renamed))).isEmpty)
  }

  test("confirmRemovals permits a number of removals, and does not make documents different") {
    val known             = applied("a/1", "a/2", "a/3", "a/4")
    def confirmed(n: Int) = metadata(2, "a/1").copy(confirmRemovals = Some(n))
    val why               = rejection(known, metadata(2, "a/1"))
    assert(why.contains(Rejection.TooMany(3, 4, 2)))
    assert(why.exists(DynamicErrors.rejected(_).getMessage.contains("'confirmRemovals: 3'")))
    assert(rejection(known, confirmed(2)).contains(Rejection.TooMany(3, 4, 2)))
    assert(rejection(known, confirmed(3)).isEmpty && rejection(known, confirmed(1)).nonEmpty)
    // A number below the limit of the fraction does not lower it.
    assert(rejection(known, metadata(2, "a/1", "a/2").copy(confirmRemovals = Some(1))).isEmpty)
    assert(known.equalsDocument(metadata(2, "a/1", "a/2", "a/3", "a/4").copy(confirmRemovals = Some(3))))
  }
}
