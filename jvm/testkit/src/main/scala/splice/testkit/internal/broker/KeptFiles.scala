// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.broker

import java.nio.file.{Files, Path, Paths}
import java.security.MessageDigest
import java.util.HexFormat
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.Using

/** Files that shorten later starts of Kafka servers, for one JVM and one state of the jars.
  *
  * The system property `splice.class.data` sets their folder. Without the property, no file is kept.
  */
private[broker] object KeptFiles {

  /** Path of a kept file. */
  def path(name: String => String): Option[Path] =
    Option(System.getProperty("splice.class.data")).map(folder => Paths.get(folder).resolve(name(digest)))

  // The tests of Python compute the same text, and use the same archive.
  private lazy val digest: String = {
    val jars = Using.resource(Files.newDirectoryStream(ServerJvm.jars, "*.jar"))(_.asScala.toSeq.sortBy(_.toString))
    val text = (ServerJvm.program.toRealPath() +: jars).map { file =>
      s"$file ${Files.size(file)} ${Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS)}\n"
    }
    HexFormat.of.formatHex(MessageDigest.getInstance("SHA-256").digest(text.mkString.getBytes)).take(16)
  }
}
