// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedRun}
import splice.kafka.internal.options.{KafkaSettings, OnFutureTime}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.options.SourceOptions
import splice.source.{LogPartition, OffsetRanges, StartPosition}

/** Random topic that a query reads with batches that end at one time. */
final class EventTimeWorld(seed: Int) {

  private val random = new Random(seed)

  private def oneIn(n: Int) = random.nextInt(n) == 0

  private val situations: mutable.Set[String] = mutable.Set.empty
  private def seen(what: String)              = { val _ = situations.add(what) }

  private val policy     = OnFutureTime.all(random.nextInt(3))
  private val delay      = if (oneIn(2)) 1L + random.nextInt(5) else 1000L * (1 + random.nextInt(3600))
  private val count      = if (oneIn(40)) 64 else 1 + random.nextInt(5)
  private val rowLimit   = if (count < 64 && oneIn(3)) 1L + random.nextInt(4) else 5L + random.nextInt(60)
  private val lagBatches = if (oneIn(5)) 1 + random.nextInt(10) else 0
  private val begins     = random.nextInt(6)

  private def options(admission: Seq[(String, String)]): Seq[(String, String)] = Seq(
    "startingOffsets"      -> "earliest",
    "failOnDataLoss"       -> "false",
    "clusterTimeout"       -> "100d",
    "maxOffsetsPerTrigger" -> rowLimit.toString
  ) ++ admission

  private val simulated = new SimulatedRun(options(Seq("admission" -> "eventTime", "onFutureTime" -> policy.word)): _*)
  private val lag       = KafkaSettings(SourceOptions(
    (options(Nil) ++ Seq("kafka.bootstrap.servers" -> "simulated:9092", "subscribe" -> "t")).toMap
  ))
  private val all = new EventTimeLogs(random, policy, () => simulated.clock.instant().toEpochMilli)(seen)

  import all.logs

  // True if rows arrive between the requests of a batch.
  private var grows = oneIn(2)

  // Partitions that discovery has not returned yet.
  private var hidden = Set.empty[Int]

  private def create(): Unit = {
    simulated.log.create("t", logs.size + 1)
    val _ = all.add(simulated.log, "t", logs.size)
  }

  private def start(e: KafkaEnumerator): KafkaPosition = begins match {
    case 0 =>
      seen("start in the middle")
      simulated.begin(offsets(log => OffsetRanges(random.nextInt(log.end.toInt + 1).toLong)), e)
    case 1 =>
      seen("holes of a history")
      simulated.begin(
        offsets { log =>
          val cut   = random.nextInt(log.end.toInt + 1).toLong
          val from  = random.nextInt(cut.toInt + 1).toLong
          val until = math.min(cut, from + random.nextInt(10))
          OffsetRanges(cut, if (from < until) Vector(from -> until) else Vector.empty)
        },
        e
      )
    case _ => simulated.begin(StartPosition.Configured, e)
  }

  private def offsets(of: all.Log => OffsetRanges): StartPosition =
    StartPosition.Offsets(SortedMap.from(logs.map(log => LogPartition("t", log.partition) -> of(log))))

  /** Runs the query until no batch has a row. */
  def run(): EventTimeLogs.Outcome = EventTimeLogs.outcome(all, policy, situations)(read())

  private def read(): Option[String] = {
    (0 until count).foreach(_ => create())
    var own = if (lagBatches > 0) simulated.start(own = lag) else simulated.start()
    var at  = start(own)

    def offset(log: all.Log) = at.get(LogPartition("t", log.partition))

    simulated.log.between = what =>
      if (what == "ends" && grows && oneIn(4)) {
        seen("rows between requests")
        logs(random.nextInt(logs.size)).grow(1 + random.nextInt(5))
      }

    def batch(isLag: Boolean): Boolean = {
      val ends   = all.ends(log => !hidden(log.partition))
      val next   = own.advance(at, own.limits(at))
      val ranges = own.splits(at, next).collect { case range: KafkaSplitRange => range }
      val used   = ranges.map(_.weight).sum
      require(used <= rowLimit || isLag, s"a batch of $used offsets exceeds $rowLimit: $ranges")
      all.deliver(
        ranges.flatMap(range =>
          range.holes.fold(Seq(range.from -> range.until))(_.ranges).map { case (from, until) =>
            (range.partition.partition, from, until, range.holes.nonEmpty || isLag)
          }
        ),
        ends
      )
      val moved = next != at
      at = next
      hidden = hidden.filter(p => offset(logs(p)).isEmpty)
      moved
    }

    (0 until 30).foreach { i =>
      simulated.clock.pass(Duration.ofMillis(random.nextInt(all.step * 10 + 1).toLong))
      if (i == lagBatches && lagBatches > 0) {
        seen("change from lag")
        own = simulated.start()
      } else if (oneIn(15)) {
        seen("restart")
        own = if (i < lagBatches) simulated.start(own = lag) else simulated.start()
      }
      if (!oneIn(3)) all.change(offset(_).getOrElse(0L))
      if (oneIn(40)) {
        seen("new partition")
        create()
        simulated.later()
        hidden += logs.size - 1
      }
      if (oneIn(12)) {
        seen("silent partition")
        simulated.log.leaderless = Set(LogPartition("t", random.nextInt(logs.size)))
      } else if (oneIn(3)) simulated.log.leaderless = Set.empty
      val _ = batch(i < lagBatches)
    }
    simulated.log.leaderless = Set.empty
    grows = false
    // A partition that waits for a time of the future, or whose rows are hidden, must move, or fail the query.
    val _ = Iterator.iterate(0) { idle =>
      if (batch(isLag = false)) 0
      else {
        simulated.clock.pass(Duration.ofMillis(if (idle > 12) 86400000L else 20000L))
        idle + 1
      }
    }.dropWhile(_ < 40).next()
    logs.find(log => log.end > 0 && offset(log).forall(_ < log.end))
      .map(log => s"$log was read up to ${offset(log)}, and ends at ${log.end}")
      .orElse(all.late(delay))
  }
}
