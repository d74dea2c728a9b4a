// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.KafkaFailures
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceOptionException
import splice.source.{Limits, ReadMode, StartPosition}

/** Tests of starts and ends of several partitions and their entries. */
final class EndsAndStartsSuite extends AnyFunSuite with KafkaFailures {

  /** Partition 0 has records at the times 0 to 300, without the removed first record. Partition 1 has records at 0
    * and 100.
    */
  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(options: _*)
    run.log.create("t", 2)
    run.log.write("t", 0, 0, 100, 200, 300)
    run.log.write("t", 1, 0, 100)
    run.log.expire("t", 0, 1)
    run
  }

  private def begin(run: SimulatedRun, mode: ReadMode = ReadMode.Stream) =
    run.start(mode).start(StartPosition.Configured)

  private def refused(options: (String, String)*): String =
    intercept[SpliceOptionException](begin(world(options: _*), ReadMode.Batch)).getMessage

  test(
    "a batch with a start time after its end time is rejected, and a batch with equal times is accepted"
  ) {
    val time = refused("startingTimestamp" -> "201", "endingTimestamp" -> "200")
    assert(time.contains("each partition begins at 1970-01-01T00:00:00.201Z and ends at 1970-01-01T00:00:00.200Z"))
    assert(begin(world("startingTimestamp" -> "100", "endingTimestamp" -> "100"), ReadMode.Batch) == at(0 -> 1, 1 -> 1))
    def times(first: Long, last: Long) = Seq(
      "startingOffsetsByTimestamp" -> s"""{"t":{"0":$first,"1":100}}""",
      "endingOffsetsByTimestamp"   -> s"""{"t":{"0":$last,"1":100}}"""
    )
    val each = refused(times(300, 200): _*)
    assert(each.contains("t-0 begins at 1970-01-01T00:00:00.300Z and ends at 1970-01-01T00:00:00.200Z"))
    assert(!each.contains("t-1"))
    assert(begin(world(times(200, 200): _*), ReadMode.Batch) == at(0 -> 2, 1 -> 1))
  }

  test("a batch that begins at its end is accepted, and an end at latest is never before a start") {
    def ranges(end: String) = Seq("startingOffsets" -> """{"t":{"0":2,"1":1}}""", "endingOffsets" -> end)
    assert(begin(world(ranges("""{"t":{"0":2,"1":-1}}"""): _*), ReadMode.Batch) == at(0 -> 2, 1 -> 1))
    assert(refused(ranges("""{"t":{"0":2,"1":0}}"""): _*).contains("t-1 begins at 1 and ends at 0"))
    val named = refused(ranges("""{"t":{"0":2}}"""): _*)
    assert(named.contains("'endingOffsets'") && named.contains("t-1"))
  }

  test("a batch whose decided end is before its start is rejected") {
    val behind = Seq("startingOffsets" -> """{"t":{"0":3,"1":1}}""", "endingTimestamp" -> "200")
    val text   = refused(behind: _*)
    assert(text.contains("t-0 begins at 3 and ends at 2") && !text.contains("t-1"))
  }

  test("ends per partition must have exactly the partitions of the topic") {
    Seq("endingOffsets" -> "endingOffsets", "endingOffsetsByTimestamp" -> "endingOffsetsByTimestamp").foreach {
      case (option, name) =>
        def text(json: String) = intercept[SpliceOptionException](
          begin(world("startingOffsets" -> "earliest", option -> json))
        ).getMessage
        val less = text("""{"t":{"0":2}}""")
        assert(less.contains(s"'$name'") && less.contains("Missing partitions: t-1."), less)
        assert(text("""{"t":{"0":2,"1":1,"7":0}}""").contains("does not read: t-7."))
    }
  }

  test("a committed offset after the end of the log is limited to the end of the log") {
    val run = world("startingOffsets" -> "earliest", "endingOffsets" -> "committed", "kafka.group.id" -> "g")
    run.log.group = Map(t(0) -> 9L, t(1) -> 1L)
    val e     = run.start()
    val until = e.advance(e.start(StartPosition.Configured), Limits.Everything)
    assert(until == at(0 -> 4, 1 -> 1) && e.evidence(until).nonEmpty)
  }

  test("an end that is decided during a query is decided once") {
    val run  = world("startingOffsets" -> "earliest")
    val from = begin(run)
    val own  = new SimulatedRun("startingOffsets" -> "earliest", "endingOffsets" -> "latest").settings
    val e    = run.start(own = own)
    assert(e.evidence(from).isEmpty)
    run.log.fill("t", 1, 5)
    assert(e.evidence(at(0 -> 4, 1 -> 2)).nonEmpty && e.advance(from, Limits.Everything) == at(0 -> 4, 1 -> 2))
    assert(run.side.keys("ending-").size == 1)
  }

  test("a bounded source does not count offsets that a policy has skipped") {
    val run  = world("startingOffsets" -> "earliest", "endingOffsets" -> "latest", "onOutOfRange" -> "earliest")
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    run.log.expire("t", 0, 3)
    val until = e.advance(from, Limits.Everything)
    val end   = e.evidence(until).getOrElse(fail("the source has not ended"))
    val all   = end.offsets().map(one => (one.from, one.until, one.offsets.ranges.toSeq))
    assert(all == Seq((1, 4, Seq(3L -> 4L)), (0, 2, Seq(0L -> 2L))))
  }

  /** The offsets of partition 0 that a source with 20 records has read at its end. */
  private def held(e: KafkaEnumerator, until: KafkaPosition): Seq[(Long, Long)] = {
    val end = e.evidence(until).getOrElse(fail("the source has not ended"))
    end.offsets().flatMap(_.offsets.ranges)
  }

  private def bounded(run: SimulatedRun): KafkaPosition = {
    run.log.create("t", 1)
    run.log.fill("t", 0, 20)
    run.begin(StartPosition.Configured)
  }

  private val SkippingEnd = Seq(
    "startingOffsets"      -> "earliest",
    "endingOffsets"        -> "latest",
    "onOutOfRange"         -> "earliest",
    "maxOffsetsPerTrigger" -> "3"
  )

  test("a bounded source does not count offsets whose skip entries are no longer needed") {
    val run   = new SimulatedRun(SkippingEnd: _*)
    val from  = bounded(run)
    val e     = run.start()
    val until = Seq(2L, 8L, 15L).foldLeft(from) { (at, first) =>
      run.log.expire("t", 0, first)
      e.advance(at, run.settings.limits)
    }
    assert(until == at(0 -> 18))
    val all = Seq(2L -> 5L, 8L -> 11L, 15L -> 20L)
    e.retain(until)
    assert(run.side.keys("skips-").size == 1 && held(e, at(0 -> 20)) == all)
    e.retain(until)
    assert(run.side.keys("unread-").size == 1 && held(run.start(), at(0 -> 20)) == all)
  }

  test("a skip over the end in a run without an end does not change the end, when its skip entry is no longer needed") {
    val run = new SimulatedRun(SkippingEnd: _*)
    run.log.create("t", 2)
    Seq(0, 1).foreach(p => run.log.fill("t", p, 20))
    val from                                                                = run.begin(StartPosition.Configured)
    def expired(e: KafkaEnumerator, at: KafkaPosition, p: Int, first: Long) = {
      run.log.expire("t", p, first)
      e.advance(at, run.settings.limits)
    }
    run.log.fill("t", 0, 20)
    val endless = new SimulatedRun(SkippingEnd.filterNot(_._1 == "endingOffsets"): _*).settings
    val skipped = expired(run.start(own = endless), from, 0, 40)
    val e       = run.start()
    val until   = expired(e, expired(e, skipped, 1, 8), 1, 12)
    e.retain(until)
    assert(run.side.keys("skips-").size == 1 && until.get(t(0)).contains(40L), until)
    run.log.fill("t", 1, 9)
    val later = run.start()
    later.evidence(until)
    assert(run.side.keys("ending-").size == 1)
    assert(Iterator.iterate(until)(later.advance(_, Limits.Everything)).drop(3).next().get(t(1)).contains(20L))
  }

  test("the policy applies to committed offsets that retention has removed") {
    def run(policy: String) = {
      val created = world("startingOffsets" -> "committed", "kafka.group.id" -> "g", "onOutOfRange" -> policy)
      created.log.group = Map(t(0) -> 0L, t(1) -> 1L)
      created
    }
    assert(failure("KAFKA_DATA.DATA_LOSS")(begin(run("fail"))).contains("t-0 [0, 1)"))
    assert(begin(run("earliest")) == at(0 -> 1, 1 -> 1) && begin(run("latest")) == at(0 -> 4, 1 -> 1))
    val ahead = run("fail")
    ahead.log.group = Map(t(0) -> 1L, t(1) -> 3L)
    assert(failure("KAFKA_DATA.START_BEYOND_END_OF_LOG")(begin(ahead)).contains("t-1: 3, but the log ends at 2"))
  }

  test("a stale broker does not move a start after the end") {
    val run = world("startingOffsets" -> """{"t":{"0":4,"1":2}}""")
    run.log.answerEnds(Map.empty)
    run.log.answerEnds(Map(t(0) -> 3L))
    assert(begin(run) == at(0 -> 4, 1 -> 2))
  }

  test("an entry with two skipped ranges is kept until both ranges are passed") {
    val side = new MemorySideLog
    val log  = new SkipEntries(side)
    log.add(at(0 -> 1, 1 -> 1), at(0 -> 4, 1 -> 6))
    log.add(at(0 -> 7), at(0 -> 9))
    log.retain(at(0 -> 8, 1 -> 5))(_ => ())
    assert(side.keys("").size == 2 && log.known.start(t(1), 0, 2, 8) == 6)
    log.retain(at(0 -> 3, 1 -> 6))(_ => ())
    assert(side.keys("").size == 2)
    log.retain(at(0 -> 4, 1 -> 6))(_ => ())
    assert(side.keys("") == Seq("skips-00000001"))
  }

  test("a partition whose start another driver did not decide receives its start in the next round") {
    val side          = new MemorySideLog
    val (one, second) = (new StartEntries(side), new StartEntries(side))
    val position      = at(0 -> 5)
    assert(one.starts(Set(t(1)), position)(_.map(_ -> 3L).toMap) == Map(t(1) -> 3L))
    def both() = second.starts(Set(t(1), t(2)), position)(_.map(_ -> 8L).toMap)
    assert(both() == Map(t(1) -> 3L), "the entry of the other driver is used")
    assert(both() == Map(t(1) -> 3L, t(2) -> 8L))
    assert(both() == Map(t(1) -> 3L, t(2) -> 8L) && side.keys("").size == 2)
    assert(new StartEntries(side).known == Map((t(1), 0) -> 3L, (t(2), 0) -> 8L))
  }

  test("record sizes of topics with the same name on two clusters are separate") {
    val sizes        = new RecordSizes
    val (east, west) = (sizes.within("east"), sizes.within("west"))
    east.learn("t", 10, 1000)
    west.foundNone("t")
    assert(east.of("t").contains(100.0) && west.of("t").isEmpty && sizes.of("t").isEmpty)
    assert(sizes.of("east/t").contains(100.0) && east.estimate("t") == 100.0)
    assert(west.estimate("t") == RecordSizes.Unknown / 2 && sizes.estimate("t") == RecordSizes.Unknown)
  }
}
