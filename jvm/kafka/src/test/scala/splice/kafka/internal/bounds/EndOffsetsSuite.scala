// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.time.Duration

import scala.collection.immutable.SortedSet

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.cluster.Recheck
import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.errors.{DataLoss, SkippedRows}
import splice.kafka.internal.options.Subscription
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** Tests of logs that end before the position of a query. Some logs have lost records, and other logs have not
  * reached the position yet.
  */
final class EndOffsetsSuite extends AnyFunSuite {

  private val first  = LogPartition("mirror", 0)
  private val second = LogPartition("mirror", 1)
  private val start  = KafkaPosition.of(Seq(first -> 60L))

  private class World(loss: DataLoss = DataLoss.Fail) {
    val log = new SimulatedLog(Subscription.Topics(SortedSet("mirror")))
    log.create("mirror", 2)
    val watch = new EndOffsets(log, new Recheck(1, Duration.ZERO, _ => ()), loss)

    def ends(at: KafkaPosition): Map[LogPartition, Long] = watch.ends(at, log.partitions)(log.ends)(false).get

    def loses(at: KafkaPosition): Boolean =
      intercept[SpliceException](ends(at)).getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS"
  }

  test("a log that ends before the position has lost records") {
    val world = new World
    world.log.fill("mirror", 0, 28)
    assert(world.loses(start))
  }

  test("a query waits for a log that has not reached its start position") {
    val world = new World
    world.watch.expect(start)
    world.log.fill("mirror", 0, 28)
    world.log.fill("mirror", 1, 5)
    assert(world.ends(start ++ Seq(second -> 5L)) == Map(first -> 60L, second -> 5L))
    assert(world.watch.last(first).contains(28L))
    world.log.fill("mirror", 0, 40)
    assert(world.ends(start) == Map(first -> 68L, second -> 5L))
  }

  test("a truncation before the start position is not a loss") {
    val world = new World
    world.watch.expect(start)
    world.log.fill("mirror", 0, 28)
    assert(world.ends(start)(first) == 60L)
    world.log.truncate("mirror", 0, 20)
    assert(world.ends(start)(first) == 60L)
  }

  test("a log that was longer, or was read after its start, has lost records") {
    val seen = new World
    seen.watch.expect(start)
    seen.log.fill("mirror", 0, 68)
    assert(seen.ends(start)(first) == 68L)
    seen.log.truncate("mirror", 0, 28)
    assert(seen.loses(start))

    val read = new World
    read.watch.expect(start)
    read.log.fill("mirror", 0, 28)
    assert(read.loses(KafkaPosition.of(Seq(first -> 61L))))
  }

  test("a query does not wait for a recreated topic") {
    val world = new World
    world.watch.expect(start)
    world.log.fill("mirror", 0, 28)
    assert(world.loses(start.as("mirror", 1)))
  }

  test(
    "with read_committed, an open transaction before the position is not a loss, but a truncation is"
  ) {
    val world = new World
    world.log.fill("mirror", 0, 60)
    world.log.open = Map(first -> 20L)
    assert(world.loses(start), "without transactions, a lower end is a loss")
    val watch = new EndOffsets(world.log, new Recheck(1, Duration.ZERO, _ => ()), DataLoss.Fail, isCommitted = true)
    def ends(at: KafkaPosition) = watch.ends(at, Set(first))(world.log.ends)(false).get(first)
    assert(ends(start) == 60L && watch.last(first).contains(40L))
    world.log.calls.clear()
    assert(
      ends(start) == 60L && !world.log.calls.contains("written"),
      "a recorded transaction needs no further request"
    )
    world.log.fill("mirror", 0, 5)
    world.log.open = Map(first -> 3L)
    assert(ends(start) == 62L)
    world.log.truncate("mirror", 0, 55)
    assert(intercept[SpliceException](ends(start)).getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS")
    val other = new EndOffsets(world.log, new Recheck(1, Duration.ZERO, _ => ()), DataLoss.Fail, isCommitted = true)
    assert(intercept[SpliceException](other.ends(start, Set(first))(world.log.ends)(false)).getCondition ==
      "SPLICE_KAFKA_DATA.DATA_LOSS")
  }

  test("if loss is allowed, the position stays at the start position") {
    val world = new World(DataLoss(fail = false, new SkippedRows))
    world.watch.expect(start)
    world.log.fill("mirror", 0, 28)
    assert(world.ends(start)(first) == 60L)
    assert(world.ends(KafkaPosition.of(Seq(first -> 61L)))(first) == 28L)
  }
}
