// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable
import scala.util.{Random, Using}

import org.apache.kafka.common.errors.SaslAuthenticationException

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.kafka.internal.bounds.Filled
import splice.kafka.internal.bounds.Filled.Model
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.source.errors.SpliceException
import splice.source.log.LogRange
import splice.source.{Limits, LogPartition, OffsetRanges, SplitEnumerator, StartPosition}

/** Tests of holes of a history that several clusters supply. */
final class ClusterFillSuite extends TwoClusters {

  private val seeds = sys.env.get("SEED").map(s => Seq(s.toLong)).getOrElse(1L to 50L)

  private def p(cluster: String, partition: Int = 0): LogPartition = LogPartition(topic(cluster), partition)

  private def world(models: Map[LogPartition, Model], options: (String, String)*): SimulatedClusters = {
    val created = new SimulatedClusters(clusters = 2, topics = 1, partitions = 2, options: _*)
    models.foreach { case (own, model) =>
      created.logs.values.filter(_.has(own)).foreach(_.fill(own.topic, own.partition, model.cut.toInt))
    }
    created
  }

  private def starts(models: Map[LogPartition, Model]): StartPosition.Offsets =
    StartPosition.Offsets(SortedMap.from(models.map { case (p, model) => p -> model.ranges }))

  private def rows(some: Long): Limits.Limited = Limits.Limited(rows = Some(some))

  test("a hand-over has the ranges of all clusters") {
    val clusters = world(Map.empty)
    clusters.logs(east).fill(topic(east), 0, 10)
    clusters.logs(west).fill(topic(west), 1, 8)
    clusters.logs(west).expire(topic(west), 1, 3)
    Using.resource(clusters.start()) { run =>
      val ranges = clusters.ranges(run, SortedMap(p(east) -> 4L, LogPartition("old", 0) -> 1L))
      val empty  = LogRange(0, 0)
      assert(ranges == SortedMap(
        p(east)    -> LogRange(0, 10),
        p(east, 1) -> empty,
        p(west)    -> empty,
        p(west, 1) -> LogRange(3, 8)
      ))
    }
  }

  private val both = SimulatedClusters.Both

  /** Clusters with one topic of the same name, whose first two records on west were removed. */
  private def shared(): SimulatedClusters = {
    val clusters = world(Map.empty)
    clusters.logs.values.foreach { log =>
      log.create(both, 1)
      log.fill(both, 0, 5)
    }
    clusters.logs(west).expire(both, 0, 2)
    clusters.publish(
      KafkaStream("s", SortedMap(Seq(east, west).map(c => c -> SortedSet(topic(c), both)): _*))
    )
    clusters
  }

  private def on(cluster: String) = LogPartition(s"$cluster/$both", 0)

  test("a history topic on two clusters is rejected, and other topics on two clusters have a range per cluster") {
    val clusters = shared()
    Using.resource(clusters.start()) { run =>
      val error = intercept[SpliceException](clusters.ranges(run, SortedMap(LogPartition(both, 0) -> 3L)))
      assert(error.getCondition == "SPLICE_DYNAMIC_KAFKA.AMBIGUOUS_HAND_OVER" &&
        error.getMessage.contains(s"both on $east and $west"))
      val others = clusters.ranges(run, SortedMap(p(east) -> 0L))
      assert(others.keySet == Seq(east, west).flatMap(c => Seq(p(c), p(c, 1), on(c))).toSet)
      // A hand-over compares each range with the history, so that missing records are a gap.
      assert(Seq(east, west).map(c => others(on(c))) == Seq(LogRange(0, 5), LogRange(2, 5)))
    }
  }

  test(
    "a history topic with the name of its cluster has the range, the start and the holes of this cluster"
  ) {
    val clusters = shared()
    val starts   = StartPosition.Offsets(SortedMap(
      on(east) -> OffsetRanges(4, Vector(1L -> 2L)),
      on(west) -> OffsetRanges(2)
    ))
    def rows(run: SplitEnumerator[DynamicOffset], from: DynamicOffset) =
      run.splits(from, run.advance(from, Limits.Everything)).collect { case r: DynamicSplitRange =>
        (r.cluster, Filled.read(Seq(r.range)).values.flatten.toSeq)
      }.groupMapReduce(_._1)(_._2)(_ ++ _)
    val expected = Map(east -> Seq(1L, 4L), west -> Seq(2L, 3L, 4L))
    val start    = Using.resource(clusters.start()) { run =>
      val history = SortedMap(on(east) -> 4L, on(west) -> 2L)
      assert(clusters.ranges(run, history).filter(r => history.contains(r._1)).values.toSeq ==
        Seq(LogRange(0, 5), LogRange(2, 5)))
      val begin = clusters.begin(starts, run)
      assert(rows(run, begin) == expected)
      begin.json
    }
    Using.resource(clusters.start())(run => assert(rows(run, clusters.source.position(start)) == expected))
  }

  test("an inactive cluster rejects the hand-over, for any topics of the history") {
    val clusters = world(Map.empty)
    clusters.inactive = Set(west)
    Using.resource(clusters.start()) { run =>
      Seq(SortedMap(p(east) -> 0L), SortedMap.empty[LogPartition, Long]).foreach { history =>
        val error = intercept[SpliceException](clusters.ranges(run, history))
        assert(error.getCondition == "SPLICE_DYNAMIC_KAFKA.CLUSTER_INACTIVE" && error.getMessage.contains(west))
      }
    }
  }

  /** The history lacks [5, 10) of 20 offsets on east, and [2, 4) of 6 offsets on west. */
  private val simple = Map(
    p(east)    -> Filled.model(20, (0L until 20L).filterNot(o => o >= 5 && o < 10).toSet),
    p(east, 1) -> Filled.model(0, Set.empty),
    p(west)    -> Filled.model(6, Set(0, 1, 4, 5)),
    p(west, 1) -> Filled.model(0, Set.empty)
  )

  test("each cluster reads the holes of its topics, and offsets of the history do not count in a limit") {
    val clusters = world(simple, "admission" -> "equal")
    clusters.logs(east).fill(topic(east), 0, 3)
    clusters.logs(west).fill(topic(west), 0, 3)
    Using.resource(clusters.start()) { run =>
      val start = run.start(starts(simple))
      val until = run.advance(start, Limits.Everything)
      assert(read(run, start, until) == Map(
        p(east) -> ((5L until 10L) ++ (20L until 23L)),
        p(west) -> ((2L until 4L) ++ (6L until 9L))
      ))
      val steps   = Iterator.iterate(start)(run.advance(_, rows(4))).take(6).toSeq
      val batches = steps.zip(steps.drop(1)).map { case (a, b) => read(run, a, b).values.map(_.size).sum }
      assert(batches == Seq(4, 4, 4, 1, 0))
      assert(run.advance(start, Limits.Limited(minRows = Some(14))).json == start.json)
      assert(run.advance(start, Limits.Limited(minRows = Some(13))).json == until.json)
    }
  }

  private def read(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      until: DynamicOffset
  ): Map[LogPartition, Seq[Long]] = Filled.read(run.splits(from, until).collect { case own: DynamicSplitRange =>
    own.range
  })

  test("each hole and each later offset is read once, for any limits and with restarts between batches") {
    seeds.foreach { seed =>
      withClue(s"SEED=$seed: ")(live(new Random(seed)))
    }
  }

  private def live(random: Random): Unit = {
    val models = Seq(east, west).flatMap(c => Seq(0, 1).map(p(c, _))).map { own =>
      own -> Filled.random(random, 1L + random.nextInt(40), random.nextBoolean())
    }.toMap
    val isEqual  = random.nextBoolean()
    val clusters = world(models, "admission" -> (if (isEqual) "equal" else "lag"))
    val got      = mutable.Map.empty[LogPartition, Vector[Long]].withDefaultValue(Vector.empty)
    def batch(run: SplitEnumerator[DynamicOffset], at: DynamicOffset, limits: Limits): DynamicOffset = {
      val next = run.advance(at, limits)
      val own  = if (next.json == at.json) Map.empty[LogPartition, Seq[Long]] else read(run, at, next)
      // With admission by lag, a partition with a small backlog gets a row even above the limit.
      val beyond = if (isEqual) 0 else models.size
      limits.rows.foreach(most => assert(own.valuesIterator.map(_.size).sum <= most + beyond))
      own.foreach { case (partition, offsets) => got(partition) ++= offsets }
      next
    }
    val begin = Using.resource(clusters.start())(clusters.begin(starts(models), _))
    val later = (1 to 5).foldLeft(begin) { (at, _) =>
      Using.resource(clusters.start()) { run =>
        if (random.nextBoolean()) clusters.write()
        (1 to 1 + random.nextInt(4)).foldLeft(at)((from, _) => batch(run, from, rows(1L + random.nextInt(25))))
      }
    }
    Using.resource(clusters.start()) { run =>
      val last = batch(run, later, Limits.Everything)
      assert(run.advance(last, Limits.Everything).json == last.json)
      models.foreach { case (own, model) =>
        val end = clusters.logs.values.find(_.has(own)).get.end(own)
        assert(got(own) == model.wanted(end), s"$own ${model.ranges}")
      }
    }
  }

  test("a cluster whose clients are recreated after a rejected login reads its holes, even in the first run") {
    val clusters = world(simple)
    Using.resource(clusters.start()) { run =>
      val start    = run.start(starts(simple))
      val rejected = new AtomicBoolean
      clusters.logs(east).between = { _ =>
        if (!rejected.getAndSet(true))
          throw KafkaErrors.rejected("east:9092", "its topics", new SaslAuthenticationException("no"))
      }
      // A batch does not wait for a cluster that has failed.
      val deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos
      val last     = Iterator.iterate(start) { at =>
        clusters.clock.pass(Duration.ofMillis(500))
        run.advance(at, Limits.Everything)
      }.find(at => System.nanoTime() > deadline || Seq(east, west).forall(c => read(run, start, at).contains(p(c))))
      assert(rejected.get && clusters.logs(east).closed)
      assert(last.map(read(run, start, _)).contains(Map(p(east) -> (5L until 10L), p(west) -> (2L until 4L))))
    }
  }

  test("a range with holes is not split among tasks, and a range without holes is") {
    val holes = KafkaSplitRange(p(east), 5, 20, Some(Holes(Vector(5L -> 8L, 15L -> 20L))))(None)
    assert(!DynamicSplitRange(east, "s", holes).cuttable)
    assert(DynamicSplitRange(east, "s", holes.copy(holes = None)(None, 0)).cuttable)
  }
}
