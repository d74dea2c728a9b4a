// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.race

import java.io.{BufferedReader, InputStreamReader, PrintStream}
import java.util.concurrent.TimeUnit

/** JVM with a separate class path. For each input line, the JVM reads data and prints `read` and numbers. The JVM
  * stays warm between requests.
  *
  * @param errors
  *   destination of the error stream of the JVM
  */
final class PeerProcess(name: String, command: Seq[String], errors: ProcessBuilder.Redirect) extends AutoCloseable {

  private val process = new ProcessBuilder(command: _*).redirectError(errors).start()
  private val in      = new PrintStream(process.getOutputStream)
  private val out     = new BufferedReader(new InputStreamReader(process.getInputStream))

  /** Sends a request and waits for the numbers of the response. */
  def read(request: String): Seq[Long] = {
    in.println(request)
    in.flush()
    Iterator.continually(out.readLine()).takeWhile(Option(_).isDefined).collectFirst {
      case PeerProcess.Read(numbers) => numbers.trim.split(' ').map(_.toLong).toSeq
    }.getOrElse(sys.error(s"$name has ended without a response"))
  }

  override def close(): Unit = {
    in.close()
    if (!process.waitFor(30, TimeUnit.SECONDS)) { val _ = process.destroyForcibly() }
  }
}

private object PeerProcess {
  private val Read = "read((?: \\d+)+)".r
}
