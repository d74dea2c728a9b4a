// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => LocalPath}
import java.util.Comparator

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import splice.source.SpliceException

final class HadoopSideLogSuite extends AnyFunSuite with BeforeAndAfterEach {

  private var folder: LocalPath = LocalPath.of("")

  override protected def beforeEach(): Unit = folder = Files.createTempDirectory("side-log")

  override protected def afterEach(): Unit =
    Files.walk(folder).sorted(Comparator.reverseOrder[LocalPath]()).forEach(p => Files.delete(p))

  private def open(): HadoopSideLog = new HadoopSideLog(new Path(folder.resolve("splice").toUri), new Configuration())

  private def file(key: String): LocalPath = folder.resolve("splice").resolve(key)

  private def overwrite(key: String, text: String): Unit = {
    Files.deleteIfExists(folder.resolve("splice").resolve(s".$key.crc"))
    val _ = Files.write(file(key), text.getBytes(UTF_8))
  }

  test("threads that create and remove entries at the same time do not lose one") {
    val log     = open()
    val threads = (0 until 4).map { t =>
      val work: Runnable = () =>
        (0 until 100).foreach { n =>
          log.getOrCreate(s"entry-$t-$n")(Seq(s"$t $n"))
          if (n % 2 == 0) log.remove(s"entry-$t-$n")
        }
      new Thread(work)
    }
    threads.foreach(_.start())
    threads.foreach(_.join())
    val left = for { t <- 0 until 4; n <- 1 until 100 by 2 } yield s"entry-$t-$n"
    assert(log.keys("entry-") == left.sorted && open().keys("entry-") == left.sorted)
    assert(left.forall(key => log.get(key).nonEmpty))
  }

  test("an entry is decided once, over any number of openings") {
    assert(open().getOrCreate("initial")(Seq("a", "", "b")) == Seq("a", "", "b"))
    assert(open().getOrCreate("initial")(fail("asked again")) == Seq("a", "", "b"))
    assert(open().get("initial").contains(Seq("a", "", "b")))
    assert(open().get("other").isEmpty)
  }

  test("a decision that fails leaves nothing") {
    intercept[IllegalStateException](open().getOrCreate("initial")(throw new IllegalStateException("no")))
    assert(open().get("initial").isEmpty)
  }

  test("whoever comes second gets what the first one wrote") {
    val late = open()
    assert(late.get("initial").isEmpty)
    open().getOrCreate("initial")(Seq("first"))
    assert(late.getOrCreate("initial")(Seq("second")) == Seq("first"))
  }

  test("leftovers of a crash are no entries") {
    open().getOrCreate("a")(Seq("1"))
    Files.write(file(".b.123.tmp"), "half".getBytes(UTF_8))
    assert(open().keys("") == Seq("a"))
  }

  test("parts have entries of their own") {
    val log = open()
    log.scope("history").getOrCreate("files")(Seq("h"))
    log.scope("live").getOrCreate("files")(Seq("l"))
    assert(open().scope("history").get("files").contains(Seq("h")))
    assert(open().keys("").isEmpty)
    assert(open().scope("live").keys("fi") == Seq("files"))
  }

  test("a damaged entry is an error that names the file") {
    open().getOrCreate("initial")(Seq("abc"))
    val text = new String(Files.readAllBytes(file("initial")), UTF_8)
    overwrite("initial", text.dropRight(1))
    val error = intercept[SpliceException](open().get("initial"))
    assert(error.getCondition == "SPLICE_CHECKPOINT.CORRUPT")
    assert(error.getMessage.contains("splice/initial"))
  }

  test("an entry of a newer version is refused by its version") {
    open().getOrCreate("initial")(Seq("abc"))
    overwrite("initial", "splice 2 00\nabc")
    val error = intercept[SpliceException](open().get("initial"))
    assert(error.getCondition == "SPLICE_CHECKPOINT.NEWER_VERSION")
    assert(error.getMessage.contains("format 2, this version knows up to 1"))
  }

  test("a removed entry is gone") {
    val log = open()
    log.getOrCreate("slots-00000000")(Seq("x"))
    log.remove("slots-00000000")
    assert(log.keys("slots-").isEmpty)
    assert(open().keys("slots-").isEmpty)
  }
}
