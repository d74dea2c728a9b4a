// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalatest.ConfigMap

import splice.simulation.planted.Faults
import splice.testkit.internal.simulation.{SeedBudget, SeededSuite}
import splice.testkit.simulation.{CrashPoint, HistoryResult, LifeSettings, Simulation}

/** Simulation of queries over chains with the real enumerators and readers of files, Kafka and the hybrid source. */
final class ChainSimulationSuite extends SeededSuite {

  import ChainSimulationSuite._

  override def beforeAll(configuration: ConfigMap): Unit = {
    super.beforeAll(configuration)
    // Each possible loss logs a warning, and a run has many possible losses.
    Configurator.setLevel("splice", Level.OFF)
  }

  test("no scenario loses or duplicates rows") {
    val simulation = new Simulation(again("scenario"))(new ChainLife(_, Faults.none).live())
    val results    = passed(simulation, simulation.run(seeds(Budget)))
    info(
      s"${results.size} lives, ${full(results)} with a kill and 20 steps or more: " +
        s"${results.map(_.steps.toLong).sum} steps, ${results.map(_.crashes.size).sum} kills, " +
        s"${results.map(_.rows.toLong).sum} rows"
    )
    counts(results.flatMap(_.crashes).map(point => s"killed $point")).foreach(info(_))
    counts(results.flatMap(_.marks)).foreach(info(_))
    fixed(Budget, results).foreach { own =>
      assert(full(own) >= own.size * 20 / 21, "few scenarios end early by an error")
      assert(own.flatMap(_.crashes).toSet == CrashPoint.all.toSet, "the driver is killed at every crash point")
      assert(Situations.filterNot(own.flatMap(_.marks).toSet).isEmpty, "every situation occurs")
      Frequent.foreach(mark => assert(own.count(_.marks(mark)) >= 50, mark))
    }
  }

  test(
    "no row is lost, and no committed row is repeated, if runs of low-latency modes and of other triggers alternate"
  ) {
    // Two drivers at the same time would have batches of different rows.
    val simulation =
      new Simulation(again("low-latency"), LifeSettings(freezesAtMost = 0))(
        new ChainLife(_, Faults.none, isTimed = true).live()
      )
    val results = passed(simulation, simulation.run(seeds(TimedBudget)))
    counts(results.flatMap(_.marks)).foreach(info(_))
    fixed(TimedBudget, results).foreach { own =>
      val met = own.flatMap(_.marks)
      TimedSituations.foreach(mark => assert(met.count(_ == mark) > own.size / 50, mark))
    }
  }

  test("chains of 130 legs lose and duplicate no rows") {
    val simulation = new Simulation(again("130"))(
      new ChainLife(_, Faults.none, Some(Shape.Long(Legs - 1))).live()
    )
    val results = passed(simulation, simulation.run(seeds(LongBudget)))
    fixed(LongBudget, results).foreach { own =>
      assert(own.exists(_.marks("ended in live")) && own.exists(_.crashes.size > 2))
    }
  }

  /** Command that runs one scenario of a test.
    *
    * @param test
    *   part of the name of the test
    */
  private def again(test: String) =
    s"project/sbt \"hybrid/testOnly splice.simulation.ChainSimulationSuite -- -Dsplice.seed=%d -z $test\""

  /** Results without failures. */
  private def passed(simulation: Simulation, results: Seq[HistoryResult]): Seq[HistoryResult] = {
    val failed = results.filter(_.failure.isDefined)
    if (failed.nonEmpty) {
      val all = failed.take(20).map(r => s"  seed ${r.seed}: ${r.failure.fold("")(_.toString).take(300)}")
      fail((simulation.explain(
        failed.head
      ) +: s"${failed.size} scenarios failed, the first of them:" +: all).mkString("\n"))
    }
    results
  }

  /** Number of scenarios with a kill and 20 steps or more, or with a bounded read. */
  private def full(results: Seq[HistoryResult]): Int =
    results.count(r => r.crashes.nonEmpty && r.steps >= 20 || r.marks("a bounded read"))

  private def counts(things: Seq[String]): Seq[String] =
    things.groupMapReduce(identity)(_ => 1)(_ + _).toSeq.sorted.map { case (thing, n) => s"$thing: $n" }
}

object ChainSimulationSuite {

  private val All = 1 to 10500

  // The first seeds that find the faults 1 and 16.
  private val Rare = Seq(2729, 3772)

  /** Seeds of scenarios. The fixed seeds find each fault of `ChainFaultsSuite`, and have all pairs of choices. */
  val Budget: SeedBudget = SeedBudget(
    All,
    (SeedBudget.byPairs(All, first = 2200, least = 30)(ChainPlan.of(_).choices) ++ Rare).distinct.sorted,
    window = 500
  )

  /** Seeds of scenarios with real-time mode and continuous mode. */
  private val TimedBudget = SeedBudget(1 to 500, 1 to 150, window = 50)

  /** Seeds of scenarios of long chains. */
  private val LongBudget = SeedBudget(1 to 6, 1 to 2, window = 1)

  /** Situations that must occur in more than 2 percent of the scenarios with real-time mode and continuous mode. */
  val TimedSituations: Seq[String] = Seq(
    "a batch is ended by a time",
    "a time ends a batch of ranges with an end",
    "an epoch with rows is committed",
    "new tasks replace the tasks of continuous mode",
    "rows of an uncommitted epoch are read again",
    "continuous mode is rejected after an uncommitted batch",
    "asynchronous",
    "ended in live"
  )

  /** Situations that must occur in 50 or more of the scenarios of the fixed seeds. */
  val Frequent: Seq[String] = Seq(
    "a bounded read",
    "a file is removed after its batch",
    "a file is unreadable for a time",
    "files are listed again after a rollback",
    "a watched leg ended while files arrive",
    "a crash between a segment and the position",
    "a listing fails",
    "several segments in a leg before a log"
  )

  /** Number of legs of a long chain. */
  val Legs = 130

  /** Situations that must occur in the scenarios of the fixed seeds. */
  val Situations: Seq[String] = (Shape.all ++ Shape.byTime).map(shape => s"shape $shape") ++
    Seq("a", "b", "c", "j", "k", "live", "no leg").map(leg => s"killed in $leg") ++
    Seq("DATA_LOSS", "HAND_OVER_TIME_GAP", "TOPIC_RECREATED").map(condition =>
      s"rejected SPLICE_KAFKA_DATA.$condition"
    ) ++
    Seq("GAP", "HOLES", "DUPLICATES", "COUNTS_LOST").map(condition => s"rejected SPLICE_HAND_OVER_DATA.$condition") ++
    Seq(
      "rejected SPLICE_FILES_DATA.FILE_CHANGED",
      "rejected SPLICE_HYBRID.OTHER_END",
      "asynchronous",
      "broker unavailable",
      "a broker is stale",
      "AvailableNow ended"
    ) ++
    Seq("holes are filled", "holes Fill", "holes Fail", "holes Ignore") ++
    Seq("gap Fail", "gap Warn", "duplicates Fail", "duplicates Warn", "a gap is accepted", "duplicates are accepted") ++
    Seq(
      "an ended leg is removed",
      "a leg that has not ended is removed",
      "a leg that a rule counts is removed",
      "a leg that a batch needs is removed",
      "a leg is appended too late",
      "a user-defined rule is called again"
    ) ++
    Seq(
      "an entry of another driver is used",
      "a frozen driver writes an entry after another one began",
      "a frozen driver commits after another one began",
      "a frozen driver is stopped by Spark's log",
      "a task ends after its batch",
      "rolled back",
      "the clock moves back",
      "a removal fails",
      "a write fails before it takes effect",
      "a write fails after it took effect",
      "the ends of AvailableNow are exceeded by a log",
      "a stop has the last commit"
    )
}
