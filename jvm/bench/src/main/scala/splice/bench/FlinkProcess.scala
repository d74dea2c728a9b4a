// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

import java.io.{BufferedReader, InputStreamReader, PrintStream}
import java.util.concurrent.TimeUnit

/** Flink in a process of its own, started when it is first asked to read and kept warm. */
final class FlinkProcess extends AutoCloseable {

  private var started: Option[FlinkProcess.Running] = None

  /** Reads the values of a topic from its first record to its end; answers how many there were. */
  def read(servers: String, topic: String, parallelism: Int): Long = {
    val flink = started.getOrElse {
      val fresh = FlinkProcess.start()
      started = Some(fresh)
      fresh
    }
    flink.in.println(s"$servers $topic $parallelism")
    flink.in.flush()
    Iterator.continually(flink.out.readLine()).takeWhile(Option(_).isDefined).collectFirst {
      case FlinkProcess.Read(rows) => rows.toLong
    }.getOrElse(sys.error("Flink has ended without an answer"))
  }

  override def close(): Unit = started.foreach { flink =>
    flink.in.close()
    if (!flink.process.waitFor(30, TimeUnit.SECONDS)) { val _ = flink.process.destroyForcibly() }
  }
}

object FlinkProcess {

  private val Read = "read (\\d+)".r

  final private case class Running(process: Process, in: PrintStream, out: BufferedReader)

  private def start(): Running = {
    val jars    = sys.props.getOrElse("splice.bench.flink", sys.error("the property splice.bench.flink is missing"))
    val java    = s"${sys.props("java.home")}/bin/java"
    val opens   = Seq("--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED")
    val command = Seq(java, "-Xmx2g") ++ opens ++ Seq("-cp", s"$jars/*", "splice.bench.flink.FlinkPeer")
    val process = new ProcessBuilder(command: _*).redirectError(ProcessBuilder.Redirect.DISCARD).start()
    Running(
      process,
      new PrintStream(process.getOutputStream),
      new BufferedReader(new InputStreamReader(process.getInputStream))
    )
  }
}
