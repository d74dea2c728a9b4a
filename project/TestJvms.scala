// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** JVMs of the tests of a module: one for simulations, one for suites that mostly wait for servers, one for the rest.
  *
  * Two JVMs that compute run at a time, and a JVM that waits runs beside them.
  */
object TestJvms {
  private val Simulation = Tags.Tag("simulation")
  private val Waiting    = Tags.Tag("waiting")

  private val simulations = """\.life\.|\.simulation\.|PropertySuite$|LifeSuite$""".r
  private val waiting     = """\.broker\.|\.deletion\.|\.realtime\.|\.Real\w+Suite$""".r

  /** Short tests spend more time in the optimizing compiler than they save. */
  private val quick = Vector("-XX:TieredStopAtLevel=1")

  val lanes: Seq[Setting[_]] = Seq(
    Global / concurrentRestrictions := Seq(
      Tags.limitAll(3),
      Tags.limit(Simulation, 1),
      Tags.customLimit(running => running.getOrElse(Tags.All, 0) - running.getOrElse(Waiting, 0) <= 2)
    )
  )

  val grouped: Seq[Setting[_]] = Seq(
    Test / testGrouping := {
      val options                                                 = (Test / forkOptions).value
      def group(name: String, tests: Seq[TestDefinition], jvm: Vector[String], tag: Option[Tags.Tag]) =
        Tests.Group(
          name,
          tests,
          Tests.SubProcess(options.withRunJVMOptions(options.runJVMOptions ++ jvm)),
          tag.map(_ -> 1).toSeq
        )
      val (simulated, others) = (Test / definedTests).value.partition(test => simulations.findFirstIn(test.name).isDefined)
      val (slow, rest)        = others.partition(test => waiting.findFirstIn(test.name).isDefined)
      Seq(
        group("simulations", simulated, Vector.empty, Some(Simulation)),
        group("waiting", slow, quick, Some(Waiting)),
        group("tests", rest, quick, None)
      ).filter(_.tests.nonEmpty)
    }
  )
}
