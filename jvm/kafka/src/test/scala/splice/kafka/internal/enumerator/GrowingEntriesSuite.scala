// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Instant

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.SlotRules
import splice.coordinator.internal.{Coordinator, OffsetLog}
import splice.kafka.internal.bounds.SkipEntries
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.kafka.internal.identity.DeletionEntries
import splice.kafka.internal.split.KafkaPosition
import splice.source.{EnumeratorContext, ReadMode, Source, SplitEnumerator}

/** Tests of the number of side-log entries of long and of frequent runs. */
final class GrowingEntriesSuite extends AnyFunSuite {

  private val Retained = 10

  /** Query that is slower than retention, so each batch skips a range. */
  final private class Slow {
    val run = new SimulatedRun(
      "startingOffsets"      -> "earliest",
      "onOutOfRange"         -> "earliest",
      "maxOffsetsPerTrigger" -> "5"
    )
    run.log.create("t", 1)
    run.log.fill("t", 0, 10)

    var offsets: Vector[KafkaPosition] = Vector.empty

    private object logged extends OffsetLog {
      private def kept                      = offsets.takeRight(Retained + 1)
      override def latest(): Option[String] = offsets.lastOption.map(_.json)
      override def oldest(): Option[String] = if (offsets.size > Retained + 1) kept.headOption.map(_.json) else None
    }

    private def context(cores: Int) =
      EnumeratorContext(run.side, ReadMode.Stream, run.clock, cores, "run")

    /** Starts a run of the query on a cluster with the given number of cores. */
    def start(cores: Int): Coordinator = {
      val source = new OneEnumerator(() => run.start())
      new Coordinator(source, context(cores), SlotRules(cores), Retained, None, logged)
    }

    /** Runs one batch after retention has passed the position, and commits the previous batch. */
    def batch(coordinator: Coordinator): Unit = {
      val from = offsets.lastOption.getOrElse(coordinator.initial().asInstanceOf[KafkaPosition])
      run.log.fill("t", 0, 20)
      run.log.expire("t", 0, from.offsets(t(0)) + 10)
      val until = coordinator.advance(from, everything = false).asInstanceOf[KafkaPosition]
      assert(until.offsets(t(0)) == from.offsets(t(0)) + 15)
      if (offsets.nonEmpty) coordinator.committed(from)
      offsets :+= until
    }
  }

  final private class OneEnumerator(make: () => SplitEnumerator[KafkaPosition]) extends Source[KafkaPosition] {
    override def kind: String                                                           = "one"
    override def schema: StructType                                                     = new StructType
    override def position(json: String): KafkaPosition                                  = KafkaPosition.read(json)
    override def enumerator(context: EnumeratorContext): SplitEnumerator[KafkaPosition] = make()
  }

  private def sizes(side: MemorySideLog): Seq[Int] = Seq("skips-", "slots-").map(side.keys(_).size)

  test(
    "1,000 runs of one batch each, on changing numbers of cores, keep only the entries of the batches that Spark keeps"
  ) {
    val slow = new Slow
    (1 to 1000).foreach { i =>
      val coordinator = slow.start(1 + i % 3)
      slow.batch(coordinator)
      coordinator.close()
    }
    assert(sizes(slow.run.side).forall(_ <= Retained + 3), sizes(slow.run.side))
    // The batches that Spark keeps have unchanged plans.
    val kept = slow.offsets.takeRight(Retained + 1)
    kept.zip(kept.drop(1)).foreach { case (from, until) =>
      assert(slow.start(2).ranges(from, until) ==
        Seq(SimulatedRun.range(0, from.offsets(t(0)) + 10, until.offsets(t(0)))))
    }
  }

  test("one run of 1,000 batches keeps as few entries") {
    val slow        = new Slow
    val coordinator = slow.start(2)
    (1 to 1000).foreach(_ => slow.batch(coordinator))
    assert(sizes(slow.run.side).forall(_ <= Retained + 3), sizes(slow.run.side))
  }

  test("a skip entry is kept while a batch that Spark keeps may need it, and its number is not reused") {
    val side = new MemorySideLog
    val log  = new SkipEntries(side)
    log.add(at(0 -> 1), at(0 -> 4))
    log.add(at(0 -> 7), at(0 -> 9))
    log.retain(at(0 -> 3))(_ => ())
    assert(log.known.start(t(0), 0, 2, 3) == 4 && side.keys("").size == 2)
    log.retain(at(0 -> 4))(_ => ())
    assert(side.keys("") == Seq("skips-00000001") && new SkipEntries(side).known == log.known)
    log.retain(at(0 -> 9))(_ => ())
    assert(side.keys("") == Seq("skips-00000001"))
    log.add(at(0 -> 9), at(0 -> 12))
    log.retain(at(0 -> 12).as("t", 1))(_ => ())
    assert(side.keys("") == Seq("skips-00000002"))
  }

  test("topics that are deleted and return leave at most one entry each") {
    val side = new MemorySideLog
    val log  = new DeletionEntries(side)
    (1 to 1000).foreach { i =>
      log.delete("t", at(0 -> i.toLong), Instant.EPOCH)
      log.delete(s"u-${i % 2}", at(0 -> 1), Instant.EPOCH)
      log.restore("t")
    }
    assert(side.keys("").size <= 4)
    val again = new DeletionEntries(side)
    assert(again.all.map(_.topic).toSet == Set("u-0", "u-1") && again.all.toSet == log.all.toSet)
  }
}
