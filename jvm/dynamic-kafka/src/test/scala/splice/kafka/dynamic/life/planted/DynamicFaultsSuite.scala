// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.planted

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAllConfigMap, ConfigMap}

import splice.kafka.dynamic.life.{DynamicLifeSuite, DynamicLives, LifePlan, LifeResult}
import splice.testkit.simulation.Violation

/** Tests of the simulation: each planted fault is detected within the fixed seeds.
  *
  * The following command counts the scenarios that detect each fault:
  * `project/sbt "dynamicKafka/testOnly *DynamicFaultsSuite -- -Dsplice.count=1000"`.
  */
final class DynamicFaultsSuite extends AnyFunSuite with BeforeAndAfterAllConfigMap {

  private var count = Option.empty[Int]

  override def beforeAll(configuration: ConfigMap): Unit =
    count = configuration.get("splice.count").map(_.toString.toInt)

  PlantedFault.all.foreach { case (name, fault) =>
    test(s"planted: $name") {
      val lives = new DynamicLives(fault)
      val seeds = DynamicLifeSuite.Budget.fixed.filter(fits(fault))
      val found = seeds.grouped(DynamicLives.Threads).flatMap(group => violations(lives.run(group))).nextOption()
      assert(found.nonEmpty, "not detected")
      found.foreach { case (seed, violation) => info(s"seed $seed: ${violation.getMessage.take(200)}") }
      count.foreach { n =>
        val some = Iterator.from(1).filter(fits(fault)).take(n).toSeq
        info(s"detected by ${violations(lives.run(some)).size} of $n scenarios")
      }
    }
  }

  private def fits(fault: PlantedFault)(seed: Int) = fault.fits(LifePlan.of(seed.toLong))

  private def violations(results: Seq[LifeResult]): Seq[(Long, Violation)] =
    results.flatMap(life => life.end.failed.toOption.collect { case violation: Violation => life.seed -> violation })
}
