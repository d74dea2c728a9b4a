// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => LocalPath}
import java.util.Comparator

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException
import splice.source.internal.entries.CheckpointStore

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

  test("threads that create and remove entries at the same time lose no entry") {
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

  test("an entry is decided once, across any number of openings") {
    val first = open()
    assert(first.getOrCreate("initial")(Seq("a", "", "b")) == Seq("a", "", "b"))
    assert(first.getOrCreate("initial")(fail("asked again")) == Seq("a", "", "b"))
    assert(open().getOrCreate("initial")(fail("asked again")) == Seq("a", "", "b"))
    assert(open().get("initial").contains(Seq("a", "", "b")))
    assert(open().get("other").isEmpty)
  }

  test("a failed decision leaves no entry") {
    intercept[IllegalStateException](open().getOrCreate("initial")(throw new IllegalStateException("no")))
    assert(open().get("initial").isEmpty)
  }

  test("the second writer of an entry receives the entry of the first writer") {
    val late = open()
    assert(late.get("initial").isEmpty)
    open().getOrCreate("initial")(Seq("first"))
    assert(late.getOrCreate("initial")(Seq("second")) == Seq("first"))
    assert(late.get("initial").contains(Seq("first")) && late.keys("") == Seq("initial"))
    assert(late.getOrCreate("initial")(fail("asked again")) == Seq("first"))
  }

  test("leftovers of a crash are not entries") {
    open().getOrCreate("a")(Seq("1"))
    Files.write(file(".b.123.tmp"), "half".getBytes(UTF_8))
    assert(open().keys("") == Seq("a"))
  }

  test("parts have separate entries") {
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

  test("an entry of a newer version is rejected with its version") {
    open().getOrCreate("initial")(Seq("abc"))
    overwrite("initial", "splice 2 00\nabc")
    val error = intercept[SpliceException](open().get("initial"))
    assert(error.getCondition == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    assert(error.getMessage.contains("format 2; this version supports formats up to 1"))
  }

  test("a removed entry no longer exists") {
    val log = open()
    log.getOrCreate("slots-00000000")(Seq("x"))
    log.remove("slots-00000000")
    assert(log.keys("slots-").isEmpty)
    assert(open().keys("slots-").isEmpty)
  }

  test("the error names an entry that was deleted manually, or that does not match its checksum") {
    val log = open()
    log.getOrCreate("initial")(Seq("abc"))
    val text = Files.readString(file("initial"))
    Files.delete(file("initial"))
    val missing = intercept[SpliceException](log.get("initial"))
    assert(missing.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
    assert(missing.getMessage.contains("splice/initial"))
    // Hadoop writes the checksum, and java.nio does not.
    val out = FileSystem.getLocal(new Configuration()).create(new Path(file("initial").toUri))
    try out.write(text.getBytes(UTF_8))
    finally out.close()
    assert(log.get("initial").contains(Seq("abc")))
    Files.writeString(file("initial"), text.replace("abc", "abd"))
    val damaged = intercept[SpliceException](log.get("initial"))
    assert(damaged.getCondition == "SPLICE_CHECKPOINT.CORRUPT" && damaged.getMessage.contains("splice/initial"))
  }

  test("a file that is not an entry, and an entry of another digest, are damaged") {
    open().getOrCreate("initial")(Seq("abc", ""))
    assert(open().get("initial").contains(Seq("abc", "")))
    val text = Files.readString(file("initial"))
    Seq("" -> "header", "abc" -> "header", text.replace("abc", "abd") -> "digest").foreach { case (content, why) =>
      overwrite("initial", content)
      val error = intercept[SpliceException](open().get("initial"))
      assert(error.getCondition == "SPLICE_CHECKPOINT.CORRUPT" && error.getMessage.contains(why))
    }
  }

  test("keys have the requested prefix, and include the keys of this run") {
    Seq("slots-00000001", "initial", "slots-00000000", "tops-00000000").foreach(open().getOrCreate(_)(Seq("x")))
    val log = open()
    log.getOrCreate("slots-00000002")(Seq("x"))
    assert(log.keys("slots-") == (0 to 2).map(n => s"slots-0000000$n") && log.keys("").size == 5)
  }

  test("parts use the storage that the user accepts, and no other storage") {
    val place                          = new Path(s"plain://$folder/splice")
    def part(store: CheckpointStore)   = new HadoopSideLog(place, PlainStore.configuration, store).scope("leg")
    def shared(store: CheckpointStore) = new HadoopSourceFolder(place, PlainStore.configuration, store)
    def refused(create: => Any): Unit  =
      assert(intercept[SpliceException](create).getCondition == "SPLICE_CHECKPOINT.STORE_NOT_ATOMIC")
    refused(part(CheckpointStore.Atomic).getOrCreate("initial")(Seq("a")))
    refused(shared(CheckpointStore.Atomic).create("0", Array[Byte](1)))
    assert(part(CheckpointStore.Unsafe).getOrCreate("initial")(Seq("a")) == Seq("a"))
    shared(CheckpointStore.Unsafe).create("0", Array[Byte](1))
    shared(CheckpointStore.Unsafe).create("0", Array[Byte](2))
    assert(shared(CheckpointStore.Unsafe).read("0").map(_.toSeq).contains(Seq[Byte](1)))
  }

  test("a storage failure is not reported as damage, and an entry that could not be removed is removed later") {
    val place = new Path(s"failing://$folder/splice")
    val log   = new HadoopSideLog(place, FailingStore.configuration, CheckpointStore.Unsafe)
    log.getOrCreate("slots-00000000")(Seq("x"))
    val error = new IOException("503")
    FailingStore.failing(error) {
      assert(intercept[IOException](log.get("slots-00000000")) eq error)
      assert(intercept[IOException](log.remove("slots-00000000")) eq error)
    }
    assert(log.keys("slots-") == Seq("slots-00000000") && log.get("slots-00000000").contains(Seq("x")))
    val fresh = new HadoopSideLog(place, FailingStore.configuration, CheckpointStore.Unsafe)
    assert(FailingStore.failing(error)(intercept[IOException](fresh.get("slots-00000000"))) eq error)
    assert(fresh.get("slots-00000000").contains(Seq("x")), "an unreadable entry is not treated as missing later")
    log.remove("slots-00000000")
    assert(log.keys("slots-").isEmpty && !Files.exists(file("slots-00000000")))
  }
}
