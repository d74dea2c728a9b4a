// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAllConfigMap, ConfigMap}

import splice.simulation.planted.Faults
import splice.testkit.simulation.{CrashPoint, LifeSettings, Simulation}

/** Simulation of queries over chains with the real enumerators and readers of files, Kafka and the hybrid source.
  *
  * Command to run one scenario: `sbt "hybrid/testOnly splice.simulation.ChainSimulationSuite -- -Dsplice.seed=42"`, or `-Dsplice.timed=42` for a life with
  * real-time mode.
  */
final class ChainSimulationSuite extends AnyFunSuite with BeforeAndAfterAllConfigMap {

  private var seeds: Range = 1 to ChainSimulationSuite.Seeds
  private var timed: Range = 1 to ChainSimulationSuite.TimedSeeds

  private val simulation = new Simulation(
    "sbt \"hybrid/testOnly splice.simulation.ChainSimulationSuite -- -Dsplice.seed=%d\""
  )(new ChainLife(_, Faults.none).live())

  override def beforeAll(configuration: ConfigMap): Unit = {
    // Each possible loss logs a warning, and a run has many possible losses.
    Configurator.setLevel("splice", Level.OFF)
    configuration.get("splice.seed").foreach(text => seeds = range(text.toString))
    configuration.get("splice.timed").foreach(text => timed = range(text.toString))
  }

  private def range(text: String): Range = text.split("\\.\\.") match {
    case Array(one) => one.toInt to one.toInt
    case range      => range.head.toInt to range.last.toInt
  }

  test("no scenario loses or duplicates rows") {
    val results = simulation.run(seeds)
    val failed  = results.filter(_.failure.isDefined)
    if (failed.nonEmpty) {
      val all = failed.take(20).map(r => s"  seed ${r.seed}: ${r.failure.fold("")(_.toString).take(300)}")
      fail((simulation.explain(
        failed.head
      ) +: s"${failed.size} scenarios failed, the first of them:" +: all).mkString("\n"))
    }
    val full = results.filter(r => r.crashes.nonEmpty && r.steps >= 20)
    info(
      s"${results.size} lives, ${full.size} with a kill and 20 steps or more: ${results.map(_.steps.toLong).sum} steps, " +
        s"${results.map(_.crashes.size).sum} kills, ${results.map(_.rows.toLong).sum} rows"
    )
    counts(results.flatMap(_.crashes).map(point => s"killed $point")).foreach(info(_))
    counts(results.flatMap(_.marks)).foreach(info(_))
    if (seeds.size >= ChainSimulationSuite.Seeds) {
      assert(full.size >= 10000)
      assert(results.flatMap(_.crashes).toSet == CrashPoint.all.toSet, "the driver is killed at every crash point")
      val met = results.flatMap(_.marks).toSet
      assert(ChainSimulationSuite.Situations.filterNot(met).isEmpty, "every situation occurs")
    }
  }

  test(
    "no row is lost, and no committed row is repeated, if runs of low-latency modes and of other triggers alternate"
  ) {
    // Two drivers at the same time would have batches of different rows.
    val simulation = new Simulation(
      "sbt \"hybrid/testOnly splice.simulation.ChainSimulationSuite -- -Dsplice.timed=%d\"",
      LifeSettings(freezesAtMost = 0)
    )(new ChainLife(_, Faults.none, isTimed = true).live())
    val results = simulation.run(timed)
    val failed  = results.filter(_.failure.isDefined)
    if (failed.nonEmpty) {
      val all = failed.take(20).map(r => s"  seed ${r.seed}: ${r.failure.fold("")(_.toString).take(300)}")
      fail((simulation.explain(
        failed.head
      ) +: s"${failed.size} scenarios failed, the first of them:" +: all).mkString("\n"))
    }
    val met = results.flatMap(_.marks)
    counts(met).foreach(info(_))
    if (timed.size >= ChainSimulationSuite.TimedSeeds)
      ChainSimulationSuite.TimedSituations.foreach { mark =>
        assert(met.count(_ == mark) > ChainSimulationSuite.TimedSeeds / 50, mark)
      }
  }

  test("chains of 130 legs lose and duplicate no rows") {
    val long = new Simulation("a scenario of 130 legs, seed %d")(
      new ChainLife(_, Faults.none, Some(Shape.Long(ChainSimulationSuite.Legs - 1))).live()
    )
    val results = long.run(1 to 6)
    results.find(_.failure.isDefined).foreach(failed => fail(long.explain(failed)))
    assert(results.exists(_.marks("ended in live")) && results.exists(_.crashes.size > 2))
  }

  private def counts(things: Seq[String]): Seq[String] =
    things.groupMapReduce(identity)(_ => 1)(_ + _).toSeq.sorted.map { case (thing, n) => s"$thing: $n" }
}

object ChainSimulationSuite {

  /** Number of seeds. More than 10,000, because scenarios with an early error do not count. */
  val Seeds = 10500

  /** Number of scenarios with real-time mode and continuous mode. */
  val TimedSeeds = 500

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

  /** Number of legs of a long chain. */
  val Legs = 130

  /** Situations that must occur in a run of all seeds. */
  val Situations: Seq[String] = (Shape.all ++ Shape.byTime).map(shape => s"shape $shape") ++
    Seq("a", "b", "c", "j", "k", "live", "no leg").map(leg => s"killed in $leg") ++
    Seq("DATA_LOSS", "HAND_OVER_TIME_GAP", "TOPIC_RECREATED").map(condition =>
      s"rejected SPLICE_KAFKA_DATA.$condition"
    ) ++
    Seq("GAP", "HOLES", "DUPLICATES").map(condition => s"rejected SPLICE_HAND_OVER_DATA.$condition") ++
    Seq(
      "rejected SPLICE_FILES_DATA.FILE_CHANGED",
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
      "a leg is appended",
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
