// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import java.io.IOException

import scala.collection.immutable.SortedSet
import scala.collection.mutable

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalatest.ConfigMap

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.internal.split.{HybridPosition, LegRange}
import splice.hybrid.{HandOver, HybridSource}
import splice.kafka.Place
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.Subscription
import splice.simulation.leg.{KafkaLeg, RowsInTurn}
import splice.simulation.planted.Faults
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn
import splice.source.{Limits, Position, Source, TaskRanges}
import splice.testkit.internal.simulation.{RowIds, SeedBudget, SeededSuite, SimulatedCluster}
import splice.testkit.simulation._

/** Simulation of a bounded leg whose log loses unread records. The last leg reads a mirror of the log, which has all
  * records at the same offsets.
  */
final class MirrorSimulationSuite extends SeededSuite {

  override def beforeAll(configuration: ConfigMap): Unit = {
    super.beforeAll(configuration)
    Configurator.setLevel("splice", Level.OFF)
  }

  private val budget = SeedBudget(1 to 3000, 1 to 200, window = 50)

  test("a mirror supplies each record that the tasks of a bounded leg have skipped, and no other record of the leg") {
    val again      = "project/sbt \"hybrid/testOnly splice.simulation.MirrorSimulationSuite -- -Dsplice.seed=%d\""
    val simulation = new Simulation(again, LifeSettings(freezesAtMost = 0))(new MirrorLife(_).live())
    val results    = simulation.run(seeds(budget))
    val failed     = results.filter(_.failure.isDefined)
    failed.headOption.foreach { first =>
      fail(s"${failed.size} scenarios failed: ${failed.map(_.seed).mkString(", ")}\n${simulation.explain(first)}")
    }
    fixed(budget, results).foreach { own =>
      assert(own.count(_.marks(MirrorLife.Skipped)) > own.size / 2)
      assert(own.flatMap(_.crashes).toSet == CrashPoint.all.toSet)
    }
  }
}

/** Scenario of one query. */
final private class MirrorLife(life: Life) {

  private val chance   = life.chance
  private val ids      = new RowIds
  private val log      = new SimulatedCluster("x", life, ids)
  private val mirror   = new SimulatedCluster("m", life, ids)
  private val durable  = new SimulatedSideLog(life)
  private val repeated = mutable.Set.empty[Long]

  Seq(log, mirror).foreach(_.create("t", chance.between(1, 3)))
  (log.topic("t").partitions.size until mirror.topic("t").partitions.size).foreach(_ => log.grow("t"))
  (mirror.topic("t").partitions.size until log.topic("t").partitions.size).foreach(_ => mirror.grow("t"))
  log.topic("t").partitions.indices.foreach(write(_, 20))

  private val legs = Seq("j" -> leg("j", log, bounded = true), "live" -> leg("live", mirror, bounded = false))

  private lazy val spark = new SimulatedSpark(life, subject, () => durable.opened, asynchronous = false)

  private def leg(name: String, cluster: SimulatedCluster, bounded: Boolean): KafkaLeg = new KafkaLeg(
    name,
    cluster,
    Subscription.Topics(SortedSet("t")),
    Place.Earliest,
    bounded,
    Limits.Limited(rows = Some(chance.between(3, 9).toLong)),
    failOnDataLoss = !bounded,
    life,
    Faults.none,
    () => spark.lastCommitted.flatMap(HybridPosition.parse(chain, _).find(name))
  )

  private def chain: Chain = {
    val ((first, bounded), (last, unbounded)) = (legs.head, legs.last)
    Chain(IndexedSeq(
      Leg(first, bounded.source, None, None, FailOrWarn.Fail, s"$first.select"),
      Leg(last, unbounded.source, None, Some(HandOver.offsets()), FailOrWarn.Fail, s"$last.select")
    ))
  }

  private def write(partition: Int, rows: Int): Unit = (1 to rows).foreach { _ =>
    val id = ids.next()
    Seq(log, mirror).foreach(_.topic("t").partitions(partition).append(Some(id), life.clock.millis))
  }

  def live(): HistoryEnd = {
    life.whenever(write(partition, chance.between(1, 3)))
    life.whenever(trim())
    (1 to chance.between(2, 5)).foreach { _ =>
      run(if (chance.oneIn(3)) SimulatedTrigger.AvailableNow else SimulatedTrigger.ProcessingTime(chance.between(1, 6)))
      life.pause()
    }
    life.calm()
    (1 to 2).foreach(_ => run(SimulatedTrigger.AvailableNow))
    val rows = spark.sink.rows.toSeq
    val lost = ids.all.toSet -- rows
    if (lost.nonEmpty) throw new Violation(s"rows are missing: ${lost.toSeq.sorted.mkString(",")}")
    val twice = rows.diff(rows.distinct).toSet -- repeated
    if (twice.nonEmpty) throw new Violation(s"rows are duplicated: ${twice.toSeq.sorted.mkString(",")}")
    val skips = durable.scope(LegEnumerators.scope("j")).keys("unread-").nonEmpty
    HistoryEnd(rows.size, Option.when(skips)(MirrorLife.Skipped).toSet)
  }

  private def partition: Int = chance.between(0, log.topic("t").partitions.size - 1)

  // A record before the start of the query is in no leg's range.
  private def trim(): Unit = if (durable.get("initial").nonEmpty) {
    val p = partition
    log.trim("t", p, log.topic("t").partitions(p).earliest + chance.between(1, 3))
  }

  private def run(trigger: SimulatedTrigger): Unit = {
    legs.foreach(_._2.startRun())
    try spark.run(trigger, chance.between(1, 3))
    catch {
      case _: Crash                                                 => ()
      case failed: RemovalFailed                                    => throw new Violation(s"the query fails: $failed")
      case _: IOException                                           => ()
      case away: SpliceException if KafkaErrors.isUnreachable(away) => ()
    }
  }

  private object subject extends Subject {

    override def source(): Source[_ <: Position] =
      new ChainSource(new HybridSource(chain, Some(ChainWorld.schema)), Faults.none)(_ => ())

    override def rows(run: String, task: TaskRanges): TaskRows = {
      val ranges = task.ranges.map(_.asInstanceOf[LegRange])
      new RowsInTurn(ranges.map(_.leg).distinct.map { leg =>
        val own = ranges.filter(_.leg == leg).map(_.range)
        RowsInTurn.Part(own, () => legs.toMap.apply(leg).rows(run, task.copy(ranges = own)), LegRange(leg, _))
      })
    }

    override def killed(): Unit = legs.foreach(_._2.killed())

    override def losesReports: Boolean = false

    // A read whose result Spark discards may skip records that the other read has. Its report arrives in some cases.
    override def same: SameRows = (first, again) => {
      val differing = (first ++ again).toSet -- first.intersect(again)
      repeated ++= differing
      differing.forall(log.removed)
    }
  }
}

private object MirrorLife {
  val Skipped = "tasks have skipped records"
}
