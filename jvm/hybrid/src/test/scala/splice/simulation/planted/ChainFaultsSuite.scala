// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.planted

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAllConfigMap, ConfigMap}

import splice.simulation.{ChainLife, ChainPlan, ChainSimulationSuite}
import splice.testkit.simulation.Simulation

/** Tests of the simulation: each injected fault is detected within the fixed seeds.
  *
  * The following command counts the scenarios that detect each fault: `sbt "hybrid/testOnly
  * splice.simulation.planted.ChainFaultsSuite -- -Dsplice.count=1000"`.
  */
final class ChainFaultsSuite extends AnyFunSuite with BeforeAndAfterAllConfigMap {

  private var count: Option[Int] = None

  override def beforeAll(configuration: ConfigMap): Unit = {
    Configurator.setLevel("splice", Level.OFF)
    count = configuration.get("splice.count").map(_.toString.toInt)
  }

  private def simulation(faults: Faults) =
    new Simulation("injected fault; seed %d")(new ChainLife(_, faults).live())

  (PlantedFaults.all ++ PlantedDriverFaults.all ++ PlantedChainFaults.all).foreach { case (fault, planted) =>
    test(s"detected fault: $fault") {
      val lives = simulation(planted)
      val found = lives.firstFailure(ChainSimulationSuite.Budget.fixed.filter(seed => planted.fits(ChainPlan.of(seed))))
      assert(found.isDefined, "not found")
      found.foreach(r => info(s"seed ${r.seed}: ${r.failure.fold("")(_.toString).take(200)}"))
      count.foreach(n => info(s"detected by ${lives.run(1 to n).count(_.failure.isDefined)} of $n scenarios"))
    }
  }
}
