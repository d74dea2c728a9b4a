// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.planted

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAllConfigMap, ConfigMap}

import splice.kafka.dynamic.life.{DynamicLives, LifePlan, LifeResult}
import splice.testkit.simulation.Violation

/** Tests of the simulation: each planted fault is detected within a bounded number of scenarios.
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
      val lives  = new DynamicLives(fault)
      val groups = seeds(fault).take(DynamicFaultsSuite.Lives).grouped(DynamicFaultsSuite.Group)
      val found  = groups.flatMap(group => violations(lives.run(group))).nextOption()
      assert(found.nonEmpty, "not detected")
      found.foreach { case (seed, violation) => info(s"seed $seed: ${violation.getMessage.take(200)}") }
      count.foreach { n =>
        info(s"detected by ${violations(lives.run(seeds(fault).take(n).toSeq)).size} of $n scenarios")
      }
    }
  }

  private def seeds(fault: PlantedFault): Iterator[Int] =
    Iterator.from(1).filter(seed => fault.fits(LifePlan.of(seed.toLong)))

  private def violations(results: Seq[LifeResult]): Seq[(Long, Violation)] =
    results.flatMap(life => life.end.failed.toOption.collect { case violation: Violation => life.seed -> violation })
}

private object DynamicFaultsSuite {

  /** Maximum number of scenarios with a planted fault. */
  val Lives = 600

  /** Number of scenarios that run before the first check for a violation. */
  val Group = 40
}
