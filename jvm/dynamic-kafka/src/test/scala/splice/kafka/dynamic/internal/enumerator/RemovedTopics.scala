// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.reader.ClusterReads
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition, DynamicSplitRange}
import splice.kafka.dynamic.internal.state.ChangeHistory
import splice.kafka.internal.metrics.TaskReads
import splice.kafka.internal.split.KafkaSplitRange
import splice.source.runtime.Report
import splice.source.{LogPartition, SplitEnumerator}

/** Helpers for two simulated clusters with one topic each. */
trait TwoClusters extends AnyFunSuite {

  protected val (east, west) = ("cluster-000", "cluster-001")

  protected def topic(cluster: String): String = s"$cluster-topic-000"

  protected def advance(run: SplitEnumerator[DynamicOffset], from: DynamicOffset): DynamicOffset =
    run.advance(from, run.limits(from))
}

/** Helpers for two simulated clusters with one topic each, one of them removed. */
trait RemovedTopics extends TwoClusters {

  protected def stream(clusters: String*): KafkaStream =
    KafkaStream("s", SortedMap.from(clusters.map(c => c -> SortedSet(topic(c)))))

  protected def simulated(options: (String, String)*): SimulatedClusters = {
    val created =
      new SimulatedClusters(2, 1, 1, Seq("discoveryInterval" -> "5ms", "maxRemovalFraction" -> "1") ++ options: _*)
    created.publish(stream(east))
    created
  }

  /** Publishes a document, and waits until a running query has it. */
  protected def publish(world: SimulatedClusters, streams: KafkaStream*): Unit = {
    world.publish(streams: _*)
    world.awaitRefresh()
  }

  /** Events of the changes, with their names. */
  protected def history(world: SimulatedClusters): Seq[(String, Seq[String])] =
    ChangeHistory(world.side).map(event => event.event -> event.names)

  protected def fill(world: SimulatedClusters, cluster: String, rows: Int): Unit =
    world.logs(cluster).fill(topic(cluster), 0, rows)

  /** Rows between two positions: cluster, partition and offset. */
  protected def rows(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      until: DynamicOffset
  ): Seq[(String, Int, Long)] =
    run.splits(from, until).collect { case r: DynamicSplitRange =>
      (r.range.from until r.range.until).map((r.cluster, r.range.partition.partition, _))
    }.flatten

  /** Reads until no rows remain. */
  protected def readAll(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset
  ): (DynamicOffset, Seq[(String, Int, Long)]) = {
    val next = advance(run, from)
    if (next.json == from.json) from -> Nil
    else {
      val (end, more) = readAll(run, next)
      end -> (rows(run, from, next) ++ more)
    }
  }

  protected def all(cluster: String, count: Int, partition: Int = 0): Seq[(String, Int, Long)] = (0 until count).map(
    i =>
      (cluster, partition, i.toLong)
  )

  /** Reads until the position fulfils a condition. */
  protected def readUntil(world: SimulatedClusters, run: SplitEnumerator[DynamicOffset], from: DynamicOffset)(
      isEnd: DynamicPosition => Boolean
  ): (DynamicOffset, Seq[(String, Int, Long)]) = {
    val limit  = Instant.now().plusSeconds(60)
    val states = Iterator.iterate(from -> Seq.empty[(String, Int, Long)]) { case (at, read) =>
      assert(Instant.now().isBefore(limit), s"no end at ${at.json}")
      // A request that failed is repeated after a pause.
      world.clock.pass(Duration.ofSeconds(1))
      val next = advance(run, at)
      next -> (read ++ rows(run, at, next))
    }
    states.drop(1).find(_._1 match {
      case position: DynamicPosition => isEnd(position)
      case _                         => false
    }).get
  }

  /** The offsets of each topic that a bounded source has read at its end. */
  protected def held(simulation: SimulatedClusters, at: String): Set[(String, Seq[(Long, Long)])] =
    Using.resource(simulation.start())(run => held(run, simulation.source.position(at)))

  protected def held(run: SplitEnumerator[DynamicOffset], at: DynamicOffset): Set[(String, Seq[(Long, Long)])] =
    run.evidence(at).getOrElse(fail("the source has not ended")).offsets().map(of =>
      of.partition.topic -> of.offsets.ranges.toSeq
    ).toSet

  /** Report of a reader that has skipped offsets in partition 0 of the topic of a cluster.
    *
    * @param scope
    *   the first name of the cluster; None if the cluster was not renamed
    */
  protected def skipped(cluster: String, from: Long, until: Long, scope: Option[String] = None): Report = {
    val range = KafkaSplitRange(LogPartition(topic(cluster), 0), from, until)(None)
    Report(ClusterReads.key("simulated", scope.getOrElse(cluster)), TaskReads(unread = Vector(range)))
  }

  protected def reads(cluster: String, partition: Int, end: Long)(at: DynamicPosition): Boolean =
    at.of(cluster).get(LogPartition(topic(cluster), partition)).contains(end)
}

/** Helpers for streams with stops. */
trait StoppedStreams extends RemovedTopics {

  protected type Run = SplitEnumerator[DynamicOffset]

  protected def stopped(at: Place, clusters: String*): KafkaStream = stream(clusters: _*).copy(stop = Some(at))

  /** Offsets in partition 0 of the topic of each cluster. */
  protected def offsets(ends: (String, Long)*): Place.Offsets =
    Place.Offsets(SortedMap.from(ends.map { case (cluster, end) =>
      cluster -> SortedMap(LogPartition(topic(cluster), 0) -> end)
    }))

  protected def time(millis: Long): Place.At =
    Place.At(Instant.ofEpochMilli(millis), Duration.ZERO)

  protected def in[A](world: SimulatedClusters)(use: Run => A): A = Using.resource(world.start())(use)
}
