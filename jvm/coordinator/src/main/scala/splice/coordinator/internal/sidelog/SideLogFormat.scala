// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.HexFormat

import splice.source.errors.CheckpointErrors

/** Format of a side-log entry: the header `splice <version> <digest of the following text>`, then the lines of the
  * entry.
  */
private[splice] object SideLogFormat {

  val Version = 1

  private val header = "splice (\\d+) ([0-9a-f]+)".r

  def write(lines: Seq[String]): String = {
    val body = lines.mkString("\n")
    s"splice $Version ${digest(body)}\n$body"
  }

  /** @throws splice.source.errors.SpliceException if the text is damaged, truncated, or of a newer version */
  def read(name: String, text: String): Seq[String] = {
    val (first, rest) = text.span(_ != '\n')
    val body          = rest.drop(1)
    first match {
      case header(version, _) if version.toInt > Version   => throw CheckpointErrors.newer(name, version.toInt, Version)
      case header(_, expected) if expected == digest(body) => body.split("\n", -1).toSeq
      case header(_, _) => throw CheckpointErrors.corrupt(name, "the digest does not match the content")
      case _            => throw CheckpointErrors.corrupt(name, "the header of a side-log entry is missing")
    }
  }

  private def digest(body: String): String =
    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body.getBytes(UTF_8)), 0, 16)
}
