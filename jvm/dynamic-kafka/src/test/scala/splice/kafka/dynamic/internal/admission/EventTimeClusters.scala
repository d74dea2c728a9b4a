// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable
import scala.util.{Random, Using}

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.SimulatedClusters
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition, DynamicSplitRange}
import splice.kafka.internal.admission.EventTimeLogs
import splice.kafka.internal.options.OnFutureTime
import splice.source.{LogPartition, SplitEnumerator, StartPosition}

/** Random clusters that a query reads with batches that end at one time. */
final class EventTimeClusters(seed: Int) {

  private val random = new Random(seed)

  private def oneIn(n: Int) = random.nextInt(n) == 0

  private val situations: mutable.Set[String] = mutable.Set.empty
  private def seen(what: String)              = { val _ = situations.add(what) }

  private val policy     = OnFutureTime.all(random.nextInt(3))
  private val delay      = if (oneIn(2)) 1L + random.nextInt(5) else 1000L * (1 + random.nextInt(3600))
  private val count      = 2 + random.nextInt(2)
  private val partitions = 1 + random.nextInt(2)
  private val rowLimit   = Option.unless(oneIn(4))(if (oneIn(3)) 1L + random.nextInt(4) else 5L + random.nextInt(60))
  private val names      = (0 until count).map(c => f"cluster-$c%03d")
  private val ofCluster  =
    names.filter(_ => oneIn(3)).map { name => seen("limit of a cluster"); name -> (1L + random.nextInt(20)) }.toMap
  private val moves = oneIn(4)

  private val world = new SimulatedClusters(
    count,
    1,
    partitions,
    Seq(
      "discoveryInterval"  -> "5ms",
      "maxRemovalFraction" -> "1",
      "failOnDataLoss"     -> "false",
      "clusterTimeout"     -> "100d",
      "admission"          -> "eventTime",
      "onFutureTime"       -> policy.word
    ) ++ rowLimit.map("maxOffsetsPerTrigger" -> _.toString) ++
      ofCluster.map { case (name, limit) => s"cluster.$name.maxOffsetsPerTrigger" -> limit.toString }: _*
  )
  private val all = new EventTimeLogs(random, policy, () => world.clock.instant().toEpochMilli)(seen)

  private def topic(cluster: String) = s"$cluster-topic-000"

  private def stream(clusters: Seq[String]) =
    KafkaStream("s", SortedMap.from(clusters.map(name => name -> SortedSet(topic(name)))))

  private def offset(at: DynamicOffset, log: all.Log): Option[Long] = at match {
    case position: DynamicPosition =>
      position.clusters.get(log.topic.stripSuffix("-topic-000")).flatMap(_.get(LogPartition(log.topic, log.partition)))
    case _ => None
  }

  /** Runs the query until no batch has a row. */
  def run(): EventTimeLogs.Outcome = EventTimeLogs.outcome(all, policy, situations)(read())

  private def read(): Option[String] = {
    names.foreach(name => (0 until partitions).foreach(p => all.add(world.logs(name), topic(name), p)))
    val first = if (moves) names.init else names
    world.publish(stream(first))
    val (at, _) = Using.resource(world.start())(run => steps(run, begin(run), 0, 15))
    if (moves) {
      seen("cutover")
      val time = world.clock.instant().plusMillis(random.nextInt(all.step * 10).toLong)
      world.publish(stream(names.tail).copy(cutover = Some(Place.At(time))))
    }
    seen("restart")
    Using.resource(world.start()) { run =>
      val (begun, _) = steps(run, at, 15, 1)
      world.awaitRefresh()
      val (later, _) = steps(run, begun, 16, 14)
      names.foreach(world.logs(_).away = None)
      names.foreach(world.logs(_).leaderless = Set.empty)
      world.inactive = Set.empty
      world.awaitRefresh()
      val end = Iterator.iterate(later -> 0) { case (at, idle) =>
        world.clock.pass(Duration.ofMillis(if (idle > 12) 86400000L else 20000L))
        val next = batch(run, at)
        next -> (if (next.json == at.json) idle + 1 else 0)
      }.dropWhile(_._2 < 40).next()._1
      all.logs.find(log => offset(end, log).exists(_ < log.end))
        .map(log => s"$log was read up to ${offset(end, log)}, and ends at ${log.end}")
        .orElse(all.late(delay))
    }
  }

  private def begin(run: SplitEnumerator[DynamicOffset]): DynamicOffset = world.begin(StartPosition.Configured, run)

  private def steps(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      first: Int,
      number: Int
  ): (DynamicOffset, Int) = (first until first + number).foldLeft(from -> first) { case ((at, _), i) =>
    world.clock.pass(Duration.ofMillis(random.nextInt(all.step * 10 + 1).toLong))
    if (!oneIn(3)) all.change(offset(at, _).getOrElse(0L))
    names.foreach { name =>
      if (oneIn(20)) {
        seen("silent cluster")
        world.logs(name).away = Some(_ => true)
      } else if (oneIn(20)) {
        seen("silent partition")
        world.logs(name).leaderless = Set(LogPartition(topic(name), random.nextInt(partitions)))
      } else if (oneIn(3)) {
        world.logs(name).away = None
        world.logs(name).leaderless = Set.empty
      }
    }
    if (oneIn(20) && !moves && i > first) {
      seen("inactive cluster")
      world.inactive = Set(names.head)
      world.awaitRefresh()
    } else if (world.inactive.nonEmpty && oneIn(4) && i > first) {
      world.inactive = Set.empty
      world.awaitRefresh()
    }
    batch(run, at) -> (i + 1)
  }

  private def batch(run: SplitEnumerator[DynamicOffset], at: DynamicOffset): DynamicOffset = {
    val known  = all.logs.filter(log => offset(at, log).nonEmpty && !isAway(log)).toSet
    val ends   = all.ends(known)
    val next   = run.advance(at, run.limits(at))
    val ranges = run.splits(at, next).collect { case range: DynamicSplitRange => range }
    rowLimit.foreach(limit => require(ranges.map(_.weight).sum <= limit, s"$ranges exceeds $limit"))
    ofCluster.foreach { case (name, limit) =>
      require(ranges.filter(_.cluster == name).map(_.weight).sum <= limit, s"$ranges exceeds $limit of $name")
    }
    all.deliver(
      ranges.map { range =>
        val partition = range.range.partition
        val number    = all.logs.indexWhere(log => log.topic == partition.topic && log.partition == partition.partition)
        (number, range.range.from, range.range.until, false)
      },
      ends
    )
    next
  }

  // A batch does not wait for an inactive cluster.
  private def isAway(log: all.Log) = world.inactive.exists(name => log.topic == topic(name))
}
