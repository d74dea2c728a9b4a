// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

/** Flink in a separate process, which starts at the first read and stays warm. */
final class FlinkProcess extends AutoCloseable {

  private var started: Option[PeerProcess] = None

  /** Reads all values of a topic. Returns their number. */
  def read(servers: String, topic: String, parallelism: Int): Long = {
    val flink = started.getOrElse {
      val fresh = FlinkProcess.start()
      started = Some(fresh)
      fresh
    }
    flink.read(s"$servers $topic $parallelism").head
  }

  override def close(): Unit = started.foreach(_.close())
}

object FlinkProcess {

  private def start(): PeerProcess = {
    val jars    = sys.props.getOrElse("splice.bench.flink", sys.error("the property splice.bench.flink is missing"))
    val java    = s"${sys.props("java.home")}/bin/java"
    val opens   = Seq("--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED")
    val command = Seq(java, "-Xmx2g") ++ opens ++ Seq("-cp", s"$jars/*", "splice.bench.flink.FlinkPeer")
    new PeerProcess("Flink", command, ProcessBuilder.Redirect.DISCARD)
  }
}
