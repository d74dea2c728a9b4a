// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.options.AdmissionPolicy
import splice.kafka.internal.split.KafkaPosition
import splice.source.{Limits, LogPartition, StartPosition}

/** Tests of the distribution of a batch over partitions. */
final class AdmissionSuite extends AnyFunSuite {

  private def limits(rows: Long): Limits.Limited = Limits.Limited(rows = Some(rows))

  private def world(options: (String, String)*): SimulatedRun =
    new SimulatedRun(("startingOffsets" -> "earliest") +: options: _*)

  private def begin(run: SimulatedRun): (KafkaEnumerator, KafkaPosition) = {
    val e = run.start()
    e -> e.start(StartPosition.Configured)
  }

  test("equal: every partition gets the same share, independent of its backlog") {
    val run = world("admission" -> "equal", "maxOffsetsPerTrigger" -> "30")
    run.log.create("t", 3)
    run.log.fill("t", 0, 1000)
    run.log.fill("t", 1, 5)
    run.log.fill("t", 2, 50)
    val (e, from) = begin(run)
    assert(e.advance(from, e.limits(from)) == at(0 -> 13, 1 -> 5, 2 -> 12))
  }

  test("maxBytesPerTrigger uses the record sizes that readers report, and a large default before") {
    val sizes = new RecordSizes
    val share = new Admission(AdmissionPolicy.Lag, sizes)
    val ready = SortedMap(t(0) -> (0L, 10000L), t(1) -> (0L, 10000L))
    val bytes = Limits.Limited(bytes = Some(1 << 20))
    assert(share(bytes, ready).values.sum == 64)
    sizes.learn("t", rows = 1000, bytes = 100000)
    assert((10400 to 10486).contains(share(bytes, ready).values.sum.toInt))
    assert(share(bytes.copy(rows = Some(500)), ready).values.sum == 500)
  }

  test("maxBytesPerTrigger accelerates over offsets without records, until a record is read") {
    val run = new SimulatedRun("startingOffsets" -> "earliest", "maxBytesPerTrigger" -> (1 << 20).toString)
    run.log.create("t", 1)
    run.log.fill("t", 0, 100000)
    val e                                        = run.start()
    val begin                                    = e.start(StartPosition.Configured)
    def read(from: KafkaPosition): KafkaPosition = {
      val until = e.advance(from, e.limits(from))
      val _     = e.figures(until)
      until
    }
    val ends = List.iterate(begin: KafkaPosition, 12)(read).map(_.get(t(0)).getOrElse(0L))
    val rows = ends.zip(ends.tail).map { case (a, b) => b - a }
    assert(rows == Seq(64, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 8192, 8192))
    val sizes = new RecordSizes
    sizes.learn("t", 10, 20000)
    sizes.foundNone("t")
    assert(sizes.estimate("t") == 2000.0)
  }

  test("sizes follow the records, and an unread topic has the size of the other topics") {
    val sizes = new RecordSizes
    assert(sizes.of("t").isEmpty && sizes.cost("t", 7) == 7)
    sizes.learn("t", 1000, 100000)
    assert(sizes.of("t").contains(100.0))
    assert(sizes.cost("t", 10) == 4000 && sizes.cost("unknown", 10) == 4000)
    (1 to 20).foreach(_ => sizes.learn("t", 1000000, 1000000000))
    assert(sizes.of("t").exists(_ > 999))
  }

  test(
    "for any policy and limits: no partition starves, no row is skipped, and every batch makes progress within its limit"
  ) {
    (1L to 120L).foreach { seed =>
      val random = new Random(seed)
      val policy = AdmissionPolicy.all(random.nextInt(2))
      val run    = world("subscribe" -> "t0,t1,t2")
      val now    = run.clock.instant().toEpochMilli
      val all    = for (topic <- 0 until 3; p <- 0 until 1 + random.nextInt(6)) yield LogPartition(s"t$topic", p)
      val sizes  = new RecordSizes
      if (random.nextBoolean()) sizes.learn("t0", 10, 2000)
      (0 until 3).foreach(topic => run.log.create(s"t$topic", all.count(_.topic == s"t$topic")))
      all.foreach(p =>
        run.log.write(p.topic, p.partition, Seq.fill(random.nextInt(60))(now - random.nextInt(100000)): _*)
      )
      val share = new Admission(policy, sizes)
      val rows  = 1L + random.nextInt(12)
      // Admission by lag only uses Spark's formula, which gives every partition a row even above the limit.
      val strict = policy != AdmissionPolicy.Lag
      var from   = SortedMap.from(all.map(_ -> 0L))
      def lag    = from.map { case (p, offset) => p -> (run.log.end(p) - offset) }.filter(_._2 > 0)
      var waits  = Map.empty[LogPartition, Int]
      var rounds = 0
      while (lag.nonEmpty) {
        rounds += 1
        val behind = lag
        val until  = share(limits(rows), from.map { case (p, offset) => p -> (offset -> run.log.end(p)) })
        val hint   = s"seed $seed, $policy, round $rounds"
        assert(from.keys.forall(p => until(p) >= from(p) && until(p) <= run.log.end(p)), hint)
        val read = from.keys.iterator.map(p => until(p) - from(p)).sum
        assert(read >= math.min(rows, 1) && (!strict || read <= rows), hint)
        waits = behind.map { case (p, _) => p -> (if (until(p) > from(p)) 0 else waits.getOrElse(p, 0) + 1) }.toMap
        assert(waits.values.forall(_ <= all.size), hint)
        from = SortedMap.from(until)
        run.clock.pass(Duration.ofMillis(500))
      }
      assert(from.forall { case (p, offset) => offset == run.log.end(p) })
    }
  }
}
