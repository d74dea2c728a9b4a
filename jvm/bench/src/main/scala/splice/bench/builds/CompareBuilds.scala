// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import splice.bench.BenchPlan

/** `make bench BASE=<jar>`: compares two builds of Splice that run in turns.
  *
  * The arguments are the jar to compare with, the jar of this working tree, and the bootstrap servers of a cluster
  * for the case `kafka`. The environment variables of [[splice.bench.BenchPlan]] set the size. `PAIRS` and `JVMS` set
  * the number of runs, and `OUT` sets a file for the tables.
  */
object CompareBuilds {

  def main(arguments: Array[String]): Unit = {
    val plan = BenchPlan.fromEnvironment()
    arguments match {
      case Array(base, current, servers @ _*) =>
        val builds = Turns(Build.base(base), Build.current(current))
        val cases  = Seq[(String, () => String)](
          "kafka" ->
            (() => {
              val broker = servers.headOption.getOrElse(sys.error("the broker's bootstrap servers are missing"))
              new BuildRace(builds, broker, plan, number("PAIRS", 20), number("JVMS", 10)).run()
            }),
          "jmh" -> (() => new ReaderRace(builds, plan.only, number("PAIRS", 10)).run())
        )
        val chosen = cases.filter { case (name, _) => plan.cases.getOrElse(Set("kafka"))(name) }
        if (chosen.isEmpty) sys.error("CASES may contain only kafka and jmh when two builds are compared")
        val tables = (machine(builds, plan) +: chosen.map(_._2())).mkString("\n\n")
        println(tables)
        sys.env.get("OUT").foreach(file => Files.write(Path.of(file), tables.getBytes(UTF_8)))
      case _ => sys.error("the jars of two builds are missing")
    }
  }

  private def number(name: String, otherwise: Int): Int = {
    val value = sys.env.get(name).map(_.toInt).getOrElse(otherwise)
    if (value < 1) sys.error(s"$name is $value. Use 1 or more") else value
  }

  private def machine(builds: Turns[Build], plan: BenchPlan): String =
    s"base ${builds.base.jar}, this ${builds.current.jar}; Java ${System.getProperty("java.version")}, " +
      s"${plan.cores} cores, ${Runtime.getRuntime.maxMemory >> 20} MiB of heap, broker on the same machine."
}
