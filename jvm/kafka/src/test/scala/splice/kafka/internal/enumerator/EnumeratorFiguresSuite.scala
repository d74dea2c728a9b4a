// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.cluster.{ClockedDiscovery, Recheck}
import splice.kafka.internal.enumerator.SimulatedRun.{range, t}
import splice.kafka.internal.metrics.{PartitionRead, ReadReports, TaskReads}
import splice.kafka.internal.reader.KafkaReaders
import splice.kafka.internal.value.KafkaSchema
import splice.source.errors.SpliceException
import splice.source.runtime.Report
import splice.source.{EnumeratorContext, Limits, LogPartition, ReadMode, StartPosition}

/** Tests of record sizes from tasks, and of metrics of partitions. */
final class EnumeratorFiguresSuite extends AnyFunSuite {

  private val u = LogPartition("u", 0)

  /** Two topics with ten records each, and an enumerator whose tasks report to `key`. */
  final private class World(options: (String, String)*) {
    val run = new SimulatedRun(Seq("subscribe" -> "t,u", "startingOffsets" -> "earliest") ++ options: _*)
    Seq("t", "u").foreach { topic =>
      run.log.create(topic, 1)
      run.log.fill(topic, 0, 10)
    }
    val sizes = new RecordSizes

    private val recheck = new Recheck(run.settings.retries, run.settings.retryInterval, _ => ())
    private val context = EnumeratorContext(run.side, ReadMode.Stream, run.clock, cores = 2, run = "run")
    private val found   = new ClockedDiscovery(run.log, run.settings.discoveryInterval, run.clock)

    val e = KafkaEnumerator(run.settings, context, run.log, found, recheck, sizes, new ReadReports("key"))
  }

  test("tasks report record sizes, and an unread topic has half of the default size") {
    val w     = new World
    val begin = w.e.start(StartPosition.Configured)
    w.e.figures(begin)
    val until = w.e.advance(begin, Limits.Everything)
    w.e.reported(Seq(
      Report(
        "key",
        TaskReads(Map(t(0) -> PartitionRead(rows = 10, bytes = 1000, millis = 0, least = 0, greatest = 0)))
      ),
      Report("other", TaskReads(Map(u -> PartitionRead(rows = 10, bytes = 5000, millis = 0, least = 0, greatest = 0))))
    ))
    w.e.figures(until)
    assert(w.sizes.of("t").contains(100.0) && w.sizes.of("u").isEmpty)
    assert(w.sizes.estimate("u") == RecordSizes.Unknown / 2)
    w.e.figures(until)
    assert(w.sizes.estimate("u") == RecordSizes.Unknown / 2, "no record was read since")
    assert(w.e.cost(range(0, 0, 10)) == 4000)
  }

  test("readers report to the enumerator by its key, and receive its record sizes") {
    val w = new World
    w.sizes.learn("t", 10, 500)
    w.e.readers(KafkaSchema(includeHeaders = false), Seq(range(0, 0, 1))) match {
      case own: KafkaReaders =>
        assert((own.settings.reportKey, own.sizes, own.run) == (("key", Map("t" -> 50.0), "run")))
      case other => fail(s"$other")
    }
  }

  test(
    "described partitions are members, and before the first discovery all partitions of the position are members"
  ) {
    val w    = new World("onTopicRemoved" -> "drain")
    val from = w.run.start().advance(w.run.start().start(StartPosition.Configured), Limits.Everything)
    assert(Seq("t-0", "u-0", "t-1").map(w.e.isMember(from)) == Seq(true, true, false))
    w.e.advance(from, Limits.Everything)
    assert(Seq("t-0", "u-0").map(w.e.isMember(from)) == Seq(true, true))
    w.run.log.delete("u")
    w.run.later()
    val until = w.e.advance(from, Limits.Everything)
    assert(until.get(u).nonEmpty && Seq("t-0", "u-0").map(w.e.isMember(until)) == Seq(true, false))
  }

  test("the outlook of several topics requests each topic, and fails if the user may not read one of the topics") {
    val w = new World
    assert(w.e.outlook().logs.keySet == Set(t(0), u))
    w.run.log.unreadable = Set("u")
    val error = intercept[SpliceException](w.e.outlook())
    assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR" && error.getMessage.contains("u"))
  }
}
