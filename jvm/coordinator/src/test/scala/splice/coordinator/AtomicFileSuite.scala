// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.{Callable, CyclicBarrier, Executors}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path => HadoopPath, RawLocalFileSystem}
import org.scalatest.funsuite.AnyFunSuite

/** Files that are made whole or not at all: on Hadoop's local file system, and on one that stands for all others. */
final class AtomicFileSuite extends AnyFunSuite {

  private val hadoop = new Configuration()

  /** Not Hadoop's own class, so nothing goes past it. */
  final private class Other extends LocalFileSystem(new RawLocalFileSystem)

  private def local: FileSystem = FileSystem.getLocal(hadoop)

  private def other: FileSystem = {
    val made = new Other
    made.initialize(local.getUri, hadoop)
    made
  }

  private def create(fs: FileSystem, file: Path, text: String): Boolean =
    AtomicFile.create(fs, new HadoopPath(file.toUri), hadoop, text.getBytes(UTF_8))

  private def names(folder: Path): Set[String] =
    Files.list(folder).iterator.asScala.map(_.getFileName.toString).filterNot(_.endsWith(".crc")).toSet

  private def both(body: FileSystem => Unit): Unit = Seq(local, other).foreach(body)

  test("a file is made with its folders, is never made again, and leaves nothing beside it") {
    both { fs =>
      val file = Files.createTempDirectory("atomic").resolve("a/b/entry")
      assert(create(fs, file, "first") && !create(fs, file, "second"))
      assert(Files.readString(file) == "first" && names(file.getParent) == Set("entry"))
    }
  }

  test("of many who make one file at once one wins, and the file is the winner's") {
    both { fs =>
      val file    = Files.createTempDirectory("atomic").resolve("entry")
      val crowd   = 8
      val barrier = new CyclicBarrier(crowd)
      val pool    = Executors.newFixedThreadPool(crowd)
      try {
        val tries = (0 until crowd).map { i =>
          pool.submit((() => {
            barrier.await()
            create(fs, file, s"writer $i")
          }): Callable[Boolean])
        }
        val winners = tries.map(_.get).zipWithIndex.collect { case (true, i) => i }
        assert(winners.size == 1 && Files.readString(file) == s"writer ${winners.head}")
        assert(names(file.getParent) == Set("entry"))
      } finally { val _ = pool.shutdownNow() }
    }
  }

  test("Hadoop reads what was made past it") {
    val file = Files.createTempDirectory("atomic").resolve("entry")
    assert(create(local, file, "text"))
    val in = local.open(new HadoopPath(file.toUri))
    try assert(new String(in.readAllBytes(), UTF_8) == "text")
    finally in.close()
  }

}
