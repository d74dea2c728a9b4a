// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Seconds, Span}

import splice.testkit.internal.simulation.{SeedBudget, SeededSuite}
import splice.testkit.simulation.Simulation

/** Random scenarios of queries over streams that move between simulated clusters. */
final class DynamicLifeSuite extends SeededSuite with Eventually {

  import DynamicLifeSuite._

  test("every record of the streams is read once in every scenario") {
    val lives   = new DynamicLives()
    val results = lives.run(seeds(Budget))
    lives.failures(results).foreach(fail(_))
    val cpu = ProcessHandle.current.info.totalCpuDuration.map[Long](_.toMillis).orElse(0L) / results.size
    info(
      s"${results.size} lives, ${results.map(_.kills).sum} kills, ${results.map(_.end.get.rows.toLong).sum} rows, " +
        s"$cpu ms of CPU time per scenario"
    )
    met(results).toSeq.sorted.foreach { case (situation, count) => info(s"$situation: $count") }
    fixed(Budget, results).foreach { own =>
      val counts = met(own)
      val few    = LifeSituations.least(own.size).collect {
        case (situation, least) if counts(situation) < least => s"$situation: ${counts(situation)} of at least $least"
      }
      assert(few.isEmpty, "situations are too rare")
    }
    // Other threads close the clients of a scenario after its end.
    eventually(timeout(Span(Simulation.Patience.toSeconds, Seconds)))(assert(threads.isEmpty))
  }

  /** Number of scenarios with each situation. */
  private def met(results: Seq[LifeResult]): Map[String, Int] =
    results.flatMap(_.end.get.marks).groupMapReduce(identity)(_ => 1)(_ + _).withDefaultValue(0)

  /** Running threads of Splice. */
  private def threads: Seq[String] =
    Thread.getAllStackTraces.keySet.asScala.toSeq.filter(_.isAlive).map(_.getName).filter(_.contains("life-"))
}

private[life] object DynamicLifeSuite {

  private val All = 1 to 10000

  /** Seeds of scenarios. The first 1,000 seeds find each defect of `src/test/planted`. The other fixed seeds have pairs
    * of switches that few plans have.
    */
  val Budget: SeedBudget =
    SeedBudget(All, SeedBudget.byPairs(All, first = 1000, least = 30)(LifePlan.of(_).switches), window = 250)
}
