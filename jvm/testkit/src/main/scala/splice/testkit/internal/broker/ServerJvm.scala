// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.broker

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

/** JVM of a Kafka server.
  *
  * @param archive
  *   archive of classes that the JVM writes at its normal exit
  */
final private[testkit] class ServerJvm private (process: Process, archive: Option[ClassArchive.Fresh]) {

  def isRunning: Boolean = process.isAlive

  def signal(name: String): Unit = {
    val code = new ProcessBuilder("kill", s"-$name", process.pid.toString).start().waitFor()
    if (code != 0) throw new IllegalStateException(s"the signal $name failed with code $code")
  }

  /** Shuts the server down. */
  def stop(): Unit = {
    process.destroy()
    if (!process.waitFor(60, TimeUnit.SECONDS)) kill()
    else archive.foreach(_.publish(process.exitValue == ServerJvm.Terminated))
  }

  def kill(): Unit = {
    process.destroyForcibly().waitFor()
    archive.foreach(_.publish(isComplete = false))
  }

  /** Ends the JVM. Only a JVM with an archive to write shuts the server down. */
  def end(): Unit = if (archive.isEmpty) kill() else stop()
}

private[testkit] object ServerJvm {

  // Exit code of a JVM that ends after SIGTERM.
  private val Terminated = 143

  private val Logging =
    """rootLogger.level = WARN
      |rootLogger.appenderRef.out.ref = out
      |appender.out.type = Console
      |appender.out.name = out
      |appender.out.layout.type = PatternLayout
      |appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1} %m%n
      |""".stripMargin

  /** Starts a server.
    *
    * @param folder
    *   folder of its settings and logs
    */
  def start(folder: Path, config: Path): ServerJvm = {
    val (options, fresh) = ClassArchive.options()
    new ServerJvm(launch(folder, options, "kafka.Kafka", config.toString), fresh)
  }

  /** Runs a tool of Kafka, and returns its exit code. */
  def run(folder: Path, main: String, arguments: String*): Int = launch(folder, Nil, main, arguments: _*).waitFor()

  private def launch(folder: Path, options: Seq[String], main: String, arguments: String*): Process = {
    val logging = Files.writeString(folder.resolve("log4j2.properties"), Logging)
    // A folder on the class path would disable the archive of classes.
    val command = Seq(program.toString, "-Xmx256m", "-XX:+UseSerialGC", "-XX:-UsePerfData") ++ compiler ++ options ++
      Seq(s"-Dlog4j2.configurationFile=$logging", "-cp", s"$jars/*", main) ++ arguments
    new ProcessBuilder(command.asJava)
      .redirectErrorStream(true)
      .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("kafka.log").toFile))
      .start()
  }

  def program: Path = Paths.get(System.getProperty("java.home"), "bin", "java")

  def jars: Path = Paths.get(Option(System.getProperty("splice.kafka.server")).getOrElse(
    throw new IllegalStateException("the property splice.kafka.server does not specify the folder of Kafka's jars")
  ))

  // A short test spends most of its time on the start of the server. C1 compilation shortens this start. A benchmark
  // needs C2 for throughput.
  private def compiler: Option[String] =
    Option.when(java.lang.Boolean.getBoolean("splice.kafka.server.quick"))("-XX:TieredStopAtLevel=1")
}
