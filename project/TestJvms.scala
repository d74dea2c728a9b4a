// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** JVMs of the tests of a module: one for suites that mostly wait for servers, and one for the other suites.
  *
  * At most two JVMs that compute run at the same time as a JVM that waits.
  */
object TestJvms {
  private val Waiting = Tags.Tag("waiting")

  private val waiting = """\.broker\.|\.deletion\.|\.realtime\.|\.Real\w+Suite$""".r

  /** Short tests, and a part of the seeds of a simulation, spend more time in the optimizing compiler than they save. */
  val options: Seq[String] =
    Seq("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC", "-XX:-UsePerfData")

  val lanes: Seq[Setting[_]] = Seq(
    Global / concurrentRestrictions := Seq(
      Tags.limitAll(3),
      Tags.customLimit(running => running.getOrElse(Tags.All, 0) - running.getOrElse(Waiting, 0) <= 2)
    )
  )

  val grouped: Seq[Setting[_]] = Seq(
    Test / testGrouping := {
      val jvm           = Tests.SubProcess((Test / forkOptions).value)
      val (slow, other) = (Test / definedTests).value.partition(test => waiting.findFirstIn(test.name).isDefined)
      Seq(Tests.Group("waiting", slow, jvm, Seq(Waiting -> 1)), Tests.Group("tests", other, jvm))
        .filter(_.tests.nonEmpty)
    }
  )
}
