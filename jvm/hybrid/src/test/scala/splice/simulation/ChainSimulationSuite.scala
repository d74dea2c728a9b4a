// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAllConfigMap, ConfigMap}

import splice.testkit.simulation._

/** Whole lives of queries over chains of real enumerators and readers: files, Kafka, and the hybrid that joins them.
  *
  * One life alone: `sbt "hybrid/testOnly splice.simulation.ChainSimulationSuite -- -Dsplice.seed=42"`.
  */
final class ChainSimulationSuite extends AnyFunSuite with BeforeAndAfterAllConfigMap {

  private var seeds: Range = 1 to ChainSimulationSuite.Seeds

  private val simulation = new Simulation(
    "sbt \"hybrid/testOnly splice.simulation.ChainSimulationSuite -- -Dsplice.seed=%d\""
  )(new ChainLife(_, Faults.none).live())

  override def beforeAll(configuration: ConfigMap): Unit = {
    // Rows that may be lost are a warning each, and there are many.
    Configurator.setLevel("splice", Level.OFF)
    configuration.get("splice.seed").map(_.toString).foreach { text =>
      seeds = text.split("\\.\\.") match {
        case Array(one) => one.toInt to one.toInt
        case range      => range.head.toInt to range.last.toInt
      }
    }
  }

  test("nothing is lost and nothing is doubled in any life") {
    val results = simulation.run(seeds)
    val failed  = results.filter(_.failure.isDefined)
    info(
      s"${results.size} lives, ${results.map(_.steps.toLong).sum} steps, ${results.map(_.crashes.size).sum} kills, " +
        s"${results.map(_.rows.toLong).sum} rows, ${failed.size} failed" +
        s" CPU ${java.lang.management.ManagementFactory.getOperatingSystemMXBean.asInstanceOf[com.sun.management.OperatingSystemMXBean].getProcessCpuTime /
            1000000000L}"
    )
    results.flatMap(_.marks).groupMapReduce(identity)(_ => 1)(_ + _).toSeq.sorted.foreach { case (mark, n) =>
      info(s"$mark: $n")
    }
    if (failed.nonEmpty) {
      val all = failed.take(20).map(r => s"  seed ${r.seed}: ${r.failure.fold("")(_.toString).take(300)}")
      fail((simulation.explain(failed.head) +: "the first that failed:" +: all).mkString("\n"))
    }
  }
}

object ChainSimulationSuite {
  val Seeds = 2000
}
