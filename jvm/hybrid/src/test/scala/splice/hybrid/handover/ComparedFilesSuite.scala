// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import java.nio.file.Files

import scala.annotation.tailrec
import scala.util.Using

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions._
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.split.HybridPosition
import splice.hybrid.{Legs, LocalSpark}
import splice.source.Position
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.testkit.internal.memory.MemoryLog

/** Tests of the comparison of file archives with the log. */
final class ComparedFilesSuite extends AnyFunSuite with LocalSpark {

  private lazy val folder = Files.createTempDirectory("splice-compared")

  /** Two partitions of five records. The files have the first three records. */
  private class World(name: String, format: String, time: Column, key: Column) {
    val live: MemoryLog = Legs.log()
    for (p <- 0 to 1; i <- 0 until 5) live.append(p, 10L * p + i, millis = 1767225600123L + 1000L * i)

    private val session = spark
    import session.implicits._

    private val rows =
      for { p <- 0 to 1; record <- live.read(p, 0, 3) } yield (p, record.originOffset, record.id, record.millis)

    private val path = folder.resolve(name).toString
    rows.toDF("partition", "offset", "id", "millis")
      .withColumn("topic", lit(live.name))
      .withColumn("at", time)
      .withColumn("k", key)
      .drop("millis")
      .repartition(3)
      .write.format(format).save(path)

    val side = new MemorySideLog

    private val schema = "topic STRING, partition INT, offset BIGINT, id BIGINT, at TIMESTAMP, k STRING"
    private val own    = if (format == "json") Seq("schema" -> schema) else Nil
    private val source = Legs.source(
      "history" -> (Seq("source" -> "files", "format" -> format, "path" -> path, "select" -> "id") ++ own),
      Legs.live(live, "select" -> "id", "handOver" -> "offsets", "handOver.timestamp" -> "at", "handOver.key" -> "k")
    )

    @tailrec private def last(c: Coordinator, at: Position): Position = {
      val next = c.advance(at, everything = true)
      if (next == at) at else last(c, next)
    }

    def run(): Position = Using.resource(Legs.run(source, side))(c => last(c, c.initial()))

    def compared: Seq[Boolean] = side.scope("leg-live").get("hand-over-00000000").toSeq.flatMap(_.drop(3)).map { line =>
      Json.read(line).get.path("compared").asBoolean
    }
  }

  private def millis(shift: Int): Column = timestamp_millis(col("millis") + shift)

  private val text: Column = concat(lit("key-"), col("id"))

  test("archives of the log are accepted for each format and type") {
    val worlds = Seq(
      new World("parquet", "parquet", millis(0), text.cast("binary")),
      new World("orc", "orc", millis(0), text),
      new World("json", "json", millis(0), text),
      new World("seconds", "parquet", date_trunc("second", millis(0)), text),
      new World("days", "parquet", to_date(millis(0)), text.cast("binary")),
      new World("nulls", "parquet", lit(None.orNull).cast("timestamp"), text)
    )
    worlds.foreach { world =>
      assert(world.run().asInstanceOf[HybridPosition].leg == "live")
      assert(world.compared == Seq(true, true))
    }
  }

  test("archives of another log are rejected") {
    val worlds = Seq(
      new World("late", "parquet", millis(1), text.cast("binary")),
      new World("seconds-late", "parquet", date_trunc("second", millis(1000)), text),
      new World("other-key", "parquet", millis(0), concat(text, lit("x")).cast("binary")),
      new World("no-key", "json", millis(0), lit(None.orNull).cast("string"))
    )
    worlds.foreach { world =>
      val error = intercept[SpliceException](world.run())
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.OTHER_LOG", error.getMessage)
      assert(error.getMessage.contains(s"${world.live.name}-0 offset 2: "), error.getMessage)
      assert(world.compared.isEmpty)
    }
  }

  test("a column of another type is rejected before data is read") {
    val error = intercept[SpliceException](new World("types", "parquet", col("millis"), text).run())
    assert(error.getCondition == "SPLICE_HAND_OVER.COLUMN_TYPE_MISMATCH")
    Seq("'at'", "(timestamp)", "BIGINT", "'live.handOver.timestamp'").foreach { words =>
      assert(error.getMessage.contains(words), error.getMessage)
    }
  }
}
