// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.internal.memory.MemoryLog

/** Each entry of a checkpoint is damaged separately. A restart fails and names the entry, or does not need the entry.
  */
final class DamagedEntriesSuite extends AnyFunSuite with WithSpark {

  // Entries that a restart in the last leg does not read: the previous legs have ended, and Spark has the offset.
  private val Unread =
    Set("initial", "leg-history/files-00000000", "leg-history/files-end", "leg-history/tally-00000000")

  private val log = new MemoryLog("damaged").addPartitions(2)

  private def archive(name: String): String = {
    val path = folder.resolve(name).toString
    spark.range(0, 10, 1, 2)
      .selectExpr("id", "'damaged' AS topic", "CAST(id % 2 AS INT) AS partition", "CAST(id / 2 AS BIGINT) AS offset")
      .write.parquet(path)
    path
  }

  private def run(history: String, checkpoint: Path, out: String): Unit = spark.readStream.format("splice").options(Map(
    "source"         -> "hybrid",
    "legs"           -> "history,live",
    "history.source" -> "files",
    "history.format" -> "parquet",
    "history.path"   -> history,
    "history.select" -> "id",
    "live.source"    -> "memory",
    "live.log"       -> log.name,
    "live.select"    -> "id",
    "live.handOver"  -> "offsets"
  )).load().writeStream.format("parquet")
    .option("path", folder.resolve(out).toString)
    .option("checkpointLocation", checkpoint.toString)
    .trigger(Trigger.AvailableNow()).start().awaitTermination()

  private def files(of: Path): Seq[Path] =
    Files.walk(
      of
    ).iterator.asScala.filter(Files.isRegularFile(_)).filterNot(_.getFileName.toString.startsWith(".")).toSeq

  private def copy(from: Path, to: Path): Unit = Files.walk(from).iterator.asScala.foreach { file =>
    val _ = Files.copy(file, to.resolve(from.relativize(file).toString))
  }

  private def damage(file: Path): Unit = {
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    val _ = Files.writeString(file, "v1\nother content\n")
  }

  private def error(history: String, checkpoint: Path, out: String): String = {
    val error = intercept[Exception](run(history, checkpoint, out))
    Iterator.iterate(Option(error: Throwable))(_.flatMap(e => Option(e.getCause))).takeWhile(_.nonEmpty)
      .flatten.map(_.getMessage).mkString("\n")
  }

  test("a damaged entry causes an error that names the entry, or no restart reads the entry") {
    (0 until 20).foreach(i => log.append(i % 2, i.toLong))
    val history = archive("damaged-history")
    val good    = folder.resolve("damaged-good")
    run(history, good, "damaged-out")
    (20 until 30).foreach(i => log.append(i % 2, i.toLong))
    val sideLog = good.resolve("sources/0/splice")
    val entries = files(sideLog).map(sideLog.relativize(_).toString).sorted
    val needed  = entries.filterNot(Unread)
    assert(Seq("chain-00000000", "session", "slots-00000000", "leg-live/hand-over-00000000").diff(needed) == Nil)
    assert(Unread.diff(entries.toSet) == Set.empty)
    entries.zipWithIndex.foreach { case (entry, i) =>
      val checkpoint = folder.resolve(s"damaged-$i")
      copy(good, checkpoint)
      damage(checkpoint.resolve("sources/0/splice").resolve(entry))
      if (Unread(entry)) {
        run(history, checkpoint, s"damaged-out-$i")
        val out = spark.read.parquet(folder.resolve(s"damaged-out-$i").toString + "/*.parquet")
        assert(out.collect().map(_.getLong(0)).sorted.toSeq == (20L until 30L), entry)
      } else {
        val text = error(history, checkpoint, s"damaged-out-$i")
        assert(text.contains("SPLICE_CHECKPOINT.CORRUPT") && text.contains(entry.split("/").last), s"$entry: $text")
      }
    }
  }

  test("a missing entry that the restart needs causes an error that names the entry") {
    val history = archive("missing-history")
    val good    = folder.resolve("missing-good")
    run(history, good, "missing-out")
    def broken(name: String)(change: Path => Unit): String = {
      val checkpoint = folder.resolve(s"missing-$name")
      copy(good, checkpoint)
      change(checkpoint)
      error(history, checkpoint, s"missing-out-$name")
    }
    Seq("chain-00000000", "leg-live/hand-over-00000000").zipWithIndex.foreach { case (entry, i) =>
      val text = broken(i.toString)(checkpoint => Files.delete(checkpoint.resolve("sources/0/splice").resolve(entry)))
      assert(text.contains("SPLICE_CHECKPOINT.ENTRY_NOT_FOUND") && text.contains(entry.split("/").last), text)
    }
    val text = broken("first") { checkpoint =>
      files(checkpoint.resolve("commits")).foreach(Files.delete)
      files(checkpoint.resolve("offsets")).filterNot(_.endsWith("0")).foreach(Files.delete)
      Files.delete(checkpoint.resolve("sources/0/splice/initial"))
    }
    assert(text.contains("SPLICE_CHECKPOINT.ENTRY_NOT_FOUND") && text.contains("initial"), text)
  }

  test("a damaged offset causes an error that names the file of Spark, and no row is read") {
    val history    = archive("offset-history")
    val checkpoint = folder.resolve("offset-checkpoint")
    run(history, checkpoint, "offset-out")
    val last = files(checkpoint.resolve("offsets")).maxBy(_.getFileName.toString.toInt)
    val text = Files.readString(last).linesIterator.toSeq
    Files.deleteIfExists(last.resolveSibling(s".${last.getFileName}.crc"))
    Files.writeString(last, (text.take(2) :+ """{"legs":{"history":""").mkString("\n"))
    val error = intercept[StreamingQueryException](run(history, checkpoint, "offset-out"))
    assert(error.getMessage.contains("SPLICE_CHECKPOINT.CORRUPT"), error.getMessage)
  }
}
