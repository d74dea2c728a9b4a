// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.split.KafkaPosition
import splice.source.{Limits, LogPartition, StartPosition}

/** Tests of two concurrent drivers on one checkpoint. One driver has not read the latest entries of topics. */
final class TwoDriversOfTopicsSuite extends AnyFunSuite {

  private def position(topic: String, offset: Long): KafkaPosition =
    KafkaPosition.of(Seq(LogPartition(topic, 0) -> offset))

  private def owner(id: String): TopicOwner = TopicOwner(Some("cluster-a"), Some(id))

  private def ranges(e: KafkaEnumerator, from: KafkaPosition, until: KafkaPosition): Seq[String] =
    e.splits(from, until).map(_.toString)

  test("a generation follows the entry that the other driver has created for another topic") {
    val side          = new MemorySideLog
    val (one, behind) = (new IdentityEntries(side), new IdentityEntries(side))
    one.renew("u", owner("u-2"), position("u", 5))(position("u", 0))
    val created = behind.renew("t", owner("t-2"), position("t", 7))(position("t", 1))
    assert((created.topic, created.number, created.starts) == (("t", 1, position("t", 1))))
    assert(behind.known.latest("t") == 1 && behind.known.latest("u") == 1)
    assert(new IdentityEntries(side).known == behind.known)
  }

  test("a generation of the same topic that the other driver has begun is kept, and its start is not decided again") {
    val side          = new MemorySideLog
    val (one, behind) = (new IdentityEntries(side), new IdentityEntries(side))
    one.renew("t", owner("t-2"), position("t", 5))(position("t", 0))
    val created = behind.renew("t", owner("t-2"), position("t", 5))(fail("decided again"))
    assert(created.starts == position("t", 0) && side.keys("generation-").size == 1)
  }

  test("a position that stores generations keeps its generation if it is after the stored end of this generation") {
    val side = new MemorySideLog
    new IdentityEntries(side).renew("t", owner("t-2"), position("t", 5))(position("t", 0))
    val at = position("t", 6)
    assert(new IdentityEntries(side).known.meant(at).generation("t") == 1)
    assert(new IdentityEntries(side, hasGenerations = true).known.meant(at) == at)
  }

  test("a recreated topic that both drivers detect is read once, even if one driver detects a second recreated topic") {
    val run = new SimulatedRun(
      "subscribe"        -> "t,u",
      "startingOffsets"  -> "earliest",
      "onTopicRecreated" -> "restart"
    )
    def recreate(topic: String, records: Int): Unit = {
      run.log.delete(topic)
      run.log.create(topic, 1)
      run.log.fill(topic, 0, records)
    }
    Seq("t", "u").foreach(run.log.create(_, 1))
    Seq("t", "u").foreach(run.log.fill(_, 0, 5))
    val (one, behind) = (run.start(), run.start())
    val from          = one.advance(one.start(StartPosition.Configured), Limits.Everything)
    behind.advance(from, Limits.Everything)
    recreate("u", 3)
    run.later()
    val until = one.advance(from, Limits.Everything)
    assert(ranges(one, from, until) == Seq("u-0 [0, 3)"))
    recreate("t", 2)
    run.later()
    val other = behind.advance(from, Limits.Everything)
    assert(ranges(behind, from, other) == Seq("t-0 [0, 2)", "u-0 [0, 3)"))
    val next = run.start()
    val last = next.advance(until, Limits.Everything)
    assert(ranges(next, until, last) == Seq("t-0 [0, 2)"), "the batch of the first driver has the other topic")
  }

  test("a deletion, and its end, follow the entry that the other driver has created for another topic") {
    val side          = new MemorySideLog
    val (one, behind) = (new DeletionEntries(side), new DeletionEntries(side))
    one.delete("u", position("u", 5), Instant.EPOCH)
    behind.delete("t", position("t", 7), Instant.EPOCH)
    assert(behind.of("t").map(_.at).contains(position("t", 7)) && behind.of("u").nonEmpty)
    one.delete("v", position("v", 1), Instant.EPOCH)
    one.delete("w", position("w", 1), Instant.EPOCH)
    behind.restore("t")
    assert(behind.all.map(_.topic).toSet == Set("u", "v", "w"))
    assert(new DeletionEntries(side).all.map(_.topic).toSet == Set("u", "v", "w"))
  }

  test("a deletion of the same topic that the other driver has stored is kept") {
    val side          = new MemorySideLog
    val (one, behind) = (new DeletionEntries(side), new DeletionEntries(side))
    one.delete("t", position("t", 5), Instant.EPOCH)
    behind.delete("t", position("t", 5), Instant.EPOCH.plusSeconds(9))
    assert(behind.of("t").flatMap(_.since).contains(Instant.EPOCH) && side.keys("").size == 1)
  }
}
