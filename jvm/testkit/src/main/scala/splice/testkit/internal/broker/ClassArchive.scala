// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.broker

import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path}
import java.util.UUID
import java.util.concurrent.atomic.AtomicBoolean

/** Archive of the parsed classes of a Kafka server (class data sharing).
  *
  * Without an archive, a JVM only starts more slowly. A server that starts without an archive writes the archive at its
  * exit. Servers of several processes may write the archive at the same time.
  */
private[broker] object ClassArchive {

  // One server of this JVM writes an archive at a time.
  private val isWritten = new AtomicBoolean

  /** Options of a JVM, and the archive that the JVM writes. */
  def options(): (Seq[String], Option[Fresh]) = KeptFiles.path(digest => s"kafka-$digest.jsa") match {
    case Some(archive) if Files.exists(archive)                => Seq(s"-XX:SharedArchiveFile=$archive") -> None
    case Some(archive) if isWritten.compareAndSet(false, true) =>
      Files.createDirectories(archive.getParent)
      val fresh = archive.resolveSibling(s"fresh-${UUID.randomUUID()}.jsa")
      Seq(s"-XX:ArchiveClassesAtExit=$fresh") -> Some(new Fresh(fresh, archive))
    case _ => Nil -> None
  }

  /** Archive that a JVM writes. */
  final private[broker] class Fresh(file: Path, archive: Path) {

    /** Makes the archive available to later JVMs, or deletes an incomplete archive. Called after the end of the JVM. */
    def publish(isComplete: Boolean): Unit = {
      if (isComplete && Files.exists(file)) Files.move(file, archive, ATOMIC_MOVE)
      else Files.deleteIfExists(file)
      isWritten.set(false)
    }
  }
}
