// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.nio.file.{Files, Path}
import java.time.{Clock, Duration, Instant, ZoneOffset}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.scalatest.funsuite.AnyFunSuite

/** Temporary files of drivers that were killed. */
final class LeftoversSuite extends AnyFunSuite {

  private def remove(folder: Path, age: Duration): Unit = Leftovers.remove(
    new HadoopPath(folder.toUri),
    new Configuration(),
    Clock.fixed(Instant.now().plus(age), ZoneOffset.UTC)
  )

  private def names(folder: Path): Set[String] =
    Using.resource(
      Files.walk(folder)
    )(_.iterator.asScala.filter(Files.isRegularFile(_)).map(_.getFileName.toString).toSet)

  test("old temporary files are removed, also in the parts of a side log, and nothing else is") {
    val folder    = Files.createTempDirectory("leftovers")
    val part      = Files.createDirectories(folder.resolve("splice/leg-live"))
    val temporary = AtomicFile.temporaryName("chain-00000000")
    val kept      = Set("0", ".0.crc", "chain-00000000", ".chain-00000000.crc", ".notes.tmp", ".x.1234.tmp")
    kept.foreach(name => Files.writeString(part.resolve(name), ""))
    Seq(folder.resolve(temporary), part.resolve(temporary), part.resolve(s".$temporary.crc"))
      .foreach(Files.writeString(_, ""))
    remove(folder, Duration.ofMinutes(50))
    assert(names(folder) == kept + temporary + s".$temporary.crc", "another driver may be writing it")
    remove(folder, Duration.ofMinutes(70))
    assert(names(folder) == kept)
  }

  test("a folder that does not exist, or cannot be read, is left alone") {
    val folder = Files.createTempDirectory("leftovers")
    remove(folder.resolve("absent"), Duration.ofDays(1))
    Leftovers.remove(new HadoopPath("nowhere://bucket/folder"), new Configuration(), Clock.systemUTC())
  }
}
