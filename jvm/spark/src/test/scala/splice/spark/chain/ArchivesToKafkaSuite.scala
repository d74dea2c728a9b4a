// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark
import splice.testkit.KafkaTopics
import splice.testkit.internal.broker.SharedKafka

/** Two Parquet archives, then the topic that the archives were copied from, on Spark and a real broker. */
final class ArchivesToKafkaSuite extends AnyFunSuite with WithSpark {

  private lazy val broker = SharedKafka.east

  private val Rows = 30

  /** A topic with ids 0 to 29 in partition 0, and 30 to 59 in partition 1. */
  private def create(topic: String): Unit = {
    Using.resource(broker.admin())(KafkaTopics.create(_, topic, 2))
    val settings = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName
    )
    Using.resource(new KafkaProducer[String, String](settings.asJava)) { out =>
      (0 until 2 * Rows).foreach { id =>
        val p = id / Rows
        out.send(new ProducerRecord[String, String](topic, Int.box(p), "k", id.toString))
      }
    }
  }

  /** Archives offsets (start included, end excluded) of some partitions into a folder. */
  private def archive(folderName: String, topic: String, ranges: (Int, (Int, Int))*): String = {
    val path = folder.resolve(folderName).toString
    ranges.foreach { case (p, (from, until)) =>
      spark.range(from.toLong, until.toLong, 1, 2)
        .select(
          (col("id") + p.toLong * Rows).as("id"),
          lit(topic).as("topic"),
          lit(p).as("partition"),
          col("id").as("offset")
        )
        .write.mode("append").parquet(path)
    }
    path
  }

  private def stream(topic: String, old: String, recent: String, more: (String, String)*): DataFrame = {
    val options = Map(
      "legs"                         -> "old,recent,live",
      "old.source"                   -> "files",
      "old.format"                   -> "parquet",
      "old.path"                     -> old,
      "old.select"                   -> "id",
      "recent.source"                -> "files",
      "recent.format"                -> "parquet",
      "recent.path"                  -> recent,
      "recent.select"                -> "id",
      "recent.maxFilesPerTrigger"    -> "1",
      "live.source"                  -> "kafka",
      "live.kafka.bootstrap.servers" -> broker.servers,
      "live.subscribe"               -> topic,
      "live.handOver"                -> "offsets",
      "live.select"                  -> "CAST(CAST(value AS STRING) AS BIGINT) AS id"
    )
    spark.readStream.format("splice-hybrid").options(options ++ more).load()
  }

  private def failure(condition: String)(body: => Any): String = {
    val error = intercept[StreamingQueryException](body)
    assert(error.getMessage.contains(condition), error.getMessage)
    error.getMessage
  }

  test("each row is read once, with a partition that only the older archive has, and with removed archives") {
    create("quiet")
    val old    = archive("quiet-old", "quiet", 0 -> (0 -> 10), 1 -> (0 -> 12))
    val recent = archive("quiet-recent", "quiet", 0 -> (10 -> 20))
    drain(stream("quiet", old, recent), "quiet")
    assert(idsOut("quiet") == (0L until 2L * Rows))
    Seq(old, recent).foreach(path => Files.move(folder.resolve(path), folder.resolve(s"$path-removed")))
    drain(stream("quiet", old, recent), "quiet")
    assert(idsOut("quiet") == (0L until 2L * Rows))
  }

  test("the log supplies offsets that are missing between archives, in batches of a few rows") {
    create("gap")
    val old    = archive("gap-old", "gap", 0 -> (0 -> 10))
    val recent = archive("gap-recent", "gap", 0 -> (15 -> 20))
    val text   =
      failure("SPLICE_HAND_OVER_DATA.HOLES")(drain(stream("gap", old, recent, "live.onHoles" -> "fail"), "gap"))
    assert(text.contains("gap-0 lacks 5 (10 to 14)"), text)
    drain(stream("gap", old, recent, "live.maxOffsetsPerTrigger" -> "2"), "gap")
    assert(idsOut("gap") == (0L until 2L * Rows))
  }

  test("a Kafka leg that ends within the archives leaves the later missing offsets to the next Kafka leg") {
    create("part")
    val old     = archive("part-old", "part", 0 -> (0 -> 5))
    val recent  = archive("part-recent", "part", 0 -> (12 -> 15), 0 -> (20 -> 25))
    val bounded = Seq(
      "source"                  -> "kafka",
      "kafka.bootstrap.servers" -> broker.servers,
      "subscribe"               -> "part",
      "endingOffsets"           -> """{"part":{"0":17,"1":3}}""",
      "handOver"                -> "offsets",
      "select"                  -> "CAST(CAST(value AS STRING) AS BIGINT) AS id"
    ).map { case (key, value) => s"bounded.$key" -> value }
    drain(stream("part", old, recent, ("legs" -> "old,recent,bounded,live") +: bounded: _*), "part")
    assert(idsOut("part") == (0L until 2L * Rows))
  }

  test("overlapping archives cause an error that names legs and offsets, or a warning") {
    create("overlap")
    val old    = archive("overlap-old", "overlap", 0 -> (0 -> 12))
    val recent = archive("overlap-recent", "overlap", 0 -> (10 -> 20))
    val text   = failure("SPLICE_HAND_OVER_DATA.DUPLICATES")(drain(stream("overlap", old, recent), "overlap"))
    assert(text.contains("overlap-0 has 2 offsets in both 'old' and 'recent' (10 to 11)"), text)
    drain(stream("overlap", old, recent, "live.onDuplicates" -> "warn"), "overlap")
    assert(idsOut("overlap") == ((0L until 2L * Rows) ++ Seq(10L, 11L)).sorted)
  }

  test("a file that is copied within an archive causes an error that names offsets and counts") {
    create("copied")
    val old    = archive("copied-old", "copied", 0 -> (0 -> 10))
    val recent = archive("copied-recent", "copied", 0 -> (10 -> 20), 0 -> (14 -> 16))
    val text   = failure("SPLICE_HAND_OVER_DATA.DUPLICATES")(drain(stream("copied", old, recent), "copied"))
    assert(text.contains("copied-0 has 12 rows of 10 offsets in 'recent' (14 to 15 several times)"), text)
  }

  test("the log supplies the records before the first archived record") {
    create("late")
    val old    = archive("late-old", "late", 0 -> (5 -> 10))
    val recent = archive("late-recent", "late", 0 -> (10 -> 20))
    drain(stream("late", old, recent), "late")
    assert(idsOut("late") == (0L until 2L * Rows))
  }

  test("an older archive without offsets causes an error that names its leg and the column") {
    create("plain")
    val old    = archive("plain-all", "plain", 0 -> (0 -> 10))
    val bare   = folder.resolve("plain-old").toString
    val recent = archive("plain-recent", "plain", 0 -> (10 -> 20))
    spark.read.parquet(old).select("id").write.parquet(bare)
    val text = failure("SPLICE_HAND_OVER.NO_OFFSETS")(drain(stream("plain", bare, recent), "plain"))
    assert(text.contains("leg 'old'") && text.contains("'topic'") && text.contains(bare), text)
  }
}
