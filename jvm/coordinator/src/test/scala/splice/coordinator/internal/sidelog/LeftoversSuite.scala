// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.{IOException, InterruptedIOException}
import java.nio.file.{Files, Path}
import java.time.{Clock, Duration, Instant, ZoneOffset}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{LocalFileSystem, Path => HadoopPath}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Warnings

/** Temporary files of drivers that were killed. */
final class LeftoversSuite extends AnyFunSuite {

  private def remove(folder: Path, age: Duration, configuration: Configuration = new Configuration()): Unit =
    Leftovers.remove(
      new HadoopPath(folder.toUri),
      configuration,
      Clock.fixed(Instant.now().plus(age), ZoneOffset.UTC)
    )

  private def names(folder: Path): Set[String] =
    Using.resource(
      Files.walk(folder)
    )(_.iterator.asScala.filter(Files.isRegularFile(_)).map(_.getFileName.toString).toSet)

  private val stores = Map(
    "Hadoop's local file system" -> new Configuration(),
    "another file system"        -> {
      val other = new Configuration()
      other.set("fs.file.impl", classOf[LeftoversSuite.Store].getName)
      other.set("fs.file.impl.disable.cache", "true")
      other
    }
  )

  for ((store, configuration) <- stores)
    test(s"old temporary files on $store are removed, including in the parts of a side log, and no other files") {
      val folder    = Files.createTempDirectory("leftovers")
      val part      = Files.createDirectories(folder.resolve("splice/leg-live"))
      val temporary = AtomicFile.temporaryName("chain-00000000")
      val kept      = Set("0", ".0.crc", "chain-00000000", ".chain-00000000.crc", ".notes.tmp", ".x.1234.tmp")
      kept.foreach(name => Files.writeString(part.resolve(name), ""))
      Seq(folder.resolve(temporary), part.resolve(temporary), part.resolve(s".$temporary.crc"))
        .foreach(Files.writeString(_, ""))
      remove(folder, Duration.ofMinutes(50), configuration)
      assert(names(folder) == kept + temporary + s".$temporary.crc", "another driver may be writing it")
      remove(folder, Duration.ofMinutes(70), configuration)
      assert(names(folder) == kept)
    }

  test("a folder that does not exist, or cannot be read, is skipped") {
    val folder = Files.createTempDirectory("leftovers")
    val name   = Leftovers.getClass.getName
    assert(Warnings.during(name)(remove(folder.resolve("absent"), Duration.ofDays(1))).isEmpty)
    val warned = Warnings.during(name) {
      Leftovers.remove(new HadoopPath("nowhere://bucket/folder"), new Configuration(), Clock.systemUTC())
    }
    assert(warned.size == 1 && warned.head.contains("nowhere://bucket/folder"))
  }

  test("an interrupt ends the search, and a failed search does not fail the query") {
    val folder         = new HadoopPath(s"failing://${Files.createTempDirectory("leftovers")}")
    def search(): Unit = Leftovers.remove(folder, FailingStore.configuration, Clock.systemUTC())
    FailingStore.failing(new IOException("503"))(search())
    assertThrows[InterruptedIOException](FailingStore.failing(new InterruptedIOException("stopped"))(search()))
  }
}

object LeftoversSuite {

  /** A store that lists files as object stores do. */
  final class Store extends LocalFileSystem
}
