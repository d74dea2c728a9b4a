// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import com.fasterxml.jackson.databind.ObjectMapper
import org.openjdk.jmh.annotations.Benchmark

/** Race of [[ReaderBenchmark]] on two builds in turns. JMH starts a new JVM for each run. */
final private[builds] class ReaderRace(builds: Turns[Build], only: Option[String], pairs: Int) {

  private val json = new ObjectMapper()

  def run(): String = {
    val (failed, measured) = ReaderRace.names.filter(name => only.forall(name.contains)).partitionMap(measure)
    val table              = PairedRatios.table(
      s"Two builds, readers over records in memory: $pairs pairs of JVMs",
      "ns per row",
      measured
    )
    (table +: failed).mkString("\n\n")
  }

  /** Runs one benchmark. Left = the error message of the failed build, Right = the times of both builds. */
  private def measure(name: String): Either[String, PairedRatios] = {
    println(name)
    val times = LazyList.range(0, pairs).map { i =>
      builds.pair(i)(score(_, name)) match {
        case (Right(base), Right(current)) =>
          println(f"  base $base%8.2f ns, this $current%8.2f ns, ${base / current}%.3f")
          Right((base, current))
        case (base, current) => Left(Seq(base, current).flatMap(_.left.toOption).mkString("\n"))
      }
    }
    times.collectFirst { case Left(message) => message }
      .toLeft(PairedRatios(name, times.collect { case Right(pair) => Seq(pair) }))
  }

  private def score(build: Build, name: String): Either[String, Double] = {
    val result = Files.createTempFile("bench-jmh", ".json")
    val output = Files.createTempFile("bench-jmh", ".log")
    try {
      val chosen  = Seq(s"${classOf[ReaderBenchmark].getName.replace(".", "\\.")}\\.$name$$", "-foe", "true")
      val files   = Seq("-rf", "json", "-rff", result.toString)
      val command = build.command("org.openjdk.jmh.Main") ++ chosen ++ ReaderRace.Length ++ files
      val process = new ProcessBuilder(command: _*).redirectErrorStream(true).redirectOutput(output.toFile).start()
      if (process.waitFor() == 0)
        Right(json.readTree(result.toFile).path(0).path("primaryMetric").path("score").asDouble)
      else Left(s"$name fails on ${build.name}:\n\n```\n${new String(Files.readAllBytes(output), UTF_8)}\n```")
    } finally {
      Files.delete(result)
      Files.delete(output)
    }
  }
}

private object ReaderRace {

  // One JVM and short iterations keep a run and its counterpart close in time.
  private val Length = Seq("-f", "1", "-wi", "3", "-w", "1", "-i", "3", "-r", "1")

  private def names: Seq[String] = classOf[ReaderBenchmark].getDeclaredMethods.toSeq
    .filter(_.isAnnotationPresent(classOf[Benchmark]))
    .map(_.getName)
    .sorted
}
