// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.jdk.StreamConverters._

import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark
import splice.testkit.internal.memory.MemoryLog

/** A backfill that fails and is repaired with the same checkpoint. */
final class RepairedHistorySuite extends AnyFunSuite with WithSpark {

  /** A log with 100 records, and an archive of the first 80 records in four files. A batch reads one file. */
  private class World(name: String) {
    val log: MemoryLog = new MemoryLog(name).addPartitions(2)
    (0 until 100).foreach(i => log.append(i % 2, i.toLong, i * 1000L))
    archive("history", 0, 80, 4)

    def archive(part: String, from: Long, until: Long, files: Int): Unit = spark
      .range(from, until, 1, files)
      .selectExpr("id", s"'$name' AS topic", "CAST(id % 2 AS INT) AS partition", "CAST(id / 2 AS BIGINT) AS offset")
      .write
      .parquet(path(part))

    def path(part: String): String = folder.resolve(s"$name-$part").toString

    def archived(part: String): Map[String, String] = Map(
      s"$part.source"             -> "files",
      s"$part.format"             -> "parquet",
      s"$part.path"               -> path(part),
      s"$part.schema"             -> "id BIGINT, topic STRING, partition INT, offset BIGINT",
      s"$part.orderBy"            -> "path",
      s"$part.maxFilesPerTrigger" -> "1",
      s"$part.select"             -> "id"
    )

    private val live = Map(
      "live.source"   -> "memory",
      "live.log"      -> name,
      "live.handOver" -> "offsets",
      "live.select"   -> "id"
    )

    val options: Map[String, String] = Map("source" -> "hybrid", "legs" -> "history,live") ++ archived("history") ++
      live

    /** The third file, with 20 of the rows. */
    lazy val file: Path =
      Files.list(Path.of(path("history"))).toScala(Seq).filter(_.toString.endsWith(".parquet")).sorted.apply(2)

    /** Replaces the content of the file by invalid bytes. Returns the original content. */
    def damage(): Array[Byte] = {
      val good = Files.readAllBytes(file)
      Files.write(file, Array.fill(good.length)(7.toByte))
      Files.delete(file.resolveSibling(s".${file.getFileName}.crc"))
      good
    }

    def run(more: (String, String)*): Unit = {
      val _ = drain(spark.readStream.format("splice").options(options ++ more).load().selectExpr("id", "_leg"), name)
    }

    def fails(more: (String, String)*): String = intercept[StreamingQueryException](run(more: _*)).getMessage

    def rowsOf(leg: String): Long =
      spark.read.parquet(folder.resolve(s"$name-out").toString).where(s"_leg = '$leg'").count()

    def assertEachOnce(): Unit = assert(idsOut(name) == (0L until 100L))
  }

  test("a damaged file is skipped by policy, and the log supplies its rows") {
    val world = new World("skipped")
    world.damage()
    world.fails()
    assert(world.rowsOf("history") == 40)
    world.run("history.ignoreCorruptFiles" -> "true")
    world.assertEachOnce()
    assert(world.rowsOf("history") == 60 && world.rowsOf("live") == 40)
  }

  test("a damaged file is replaced by the correct file, with the original time or by policy") {
    Seq(true, false).foreach { isKept =>
      val world = new World(s"replaced_$isKept")
      val time  = Files.getLastModifiedTime(world.file)
      val good  = world.damage()
      Files.setLastModifiedTime(world.file, time)
      world.fails()
      Files.write(world.file, good)
      Files.setLastModifiedTime(world.file, if (isKept) time else FileTime.fromMillis(time.toMillis + 60000))
      if (isKept) world.run()
      else {
        assert(world.fails().contains("SPLICE_FILES_DATA.FILE_CHANGED"))
        world.run("history.onFileChanged" -> "warn")
      }
      world.assertEachOnce()
      assert(world.rowsOf("history") == 80)
    }
  }

  test("a file that must not be read is deleted, and skipped by policy") {
    val world = new World("deleted")
    world.damage()
    world.fails()
    Files.delete(world.file)
    assert(world.fails().contains("SPLICE_FILES.FILE_NOT_FOUND"))
    world.run("history.ignoreMissingFiles" -> "true")
    world.assertEachOnce()
    assert(world.rowsOf("live") == 40)
  }

  test("records that neither the history nor the log has are supplied by another leg") {
    val world = new World("added")
    Seq(0, 1).foreach(world.log.forget(_, 45))
    assert(world.fails().contains("SPLICE_HAND_OVER_DATA.GAP"))
    world.archive("more", 80, 90, 1)
    world.run(world.archived("more").toSeq :+ ("legs" -> "history,more,live"): _*)
    world.assertEachOnce()
    assert(Seq("history", "more", "live").map(world.rowsOf) == Seq(80, 10, 10))
  }

  test("ended legs are removed, and the log continues") {
    val world = new World("removed")
    world.run()
    (100 until 110).foreach(i => world.log.append(i % 2, i.toLong, i * 1000L))
    Files.walk(Path.of(world.path("history"))).iterator.asScala.toSeq.reverse.foreach(Files.delete)
    val alone = Map("source" -> "hybrid", "legs" -> "live", "live.source" -> "memory", "live.log" -> "removed")
    val _     = drain(
      spark.readStream.format("splice").options(alone + ("live.select" -> "id")).load().selectExpr("id", "_leg"),
      "removed"
    )
    assert(idsOut("removed") == (0L until 110L))
  }
}
