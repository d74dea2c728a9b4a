// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  FileNotFoundException,
  ObjectInputStream,
  ObjectOutputStream
}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Duration, Instant}

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.errors.FileErrors
import splice.hybrid.HybridSourceProvider
import splice.hybrid.internal.options.HybridOptions
import splice.hybrid.internal.reader.LegReaders
import splice.hybrid.internal.select.RowShape
import splice.kafka.internal.errors.{KafkaErrors, MissingRange}
import splice.source.errors.SpliceException
import splice.source.internal.ErrorConditions
import splice.source.internal.entries.Json
import splice.source.{LogPartition, Poll, SourceProvider, SplitReader, SplitReaderFactory, TaskRanges}

/** Tests that errors of a leg name the leg and the options of the leg. */
final class LegErrorsSuite extends AnyFunSuite {

  private val live = new LegErrors("live", "kafka")

  private def lost: SpliceException =
    KafkaErrors.dataLoss("the log begins later", Seq(MissingRange(LogPartition("onOutOfRange", 0), 3, Some(7))))

  test("options in the error of a source get the name of the leg") {
    val error = live.named(lost)
    assert(error.getMessage.startsWith("[SPLICE_KAFKA_DATA.DATA_LOSS] Leg 'live': Records in Kafka are missing"))
    assert(error.getMessage.contains("set 'live.onOutOfRange' (retention), 'live.onTopicRemoved'"))
    assert(error.getMessage.contains("onOutOfRange-0"), "the name of a topic stays")
    assert("SQLSTATE: ".r.findAllIn(error.getMessage).size == 1 && error.getMessage.endsWith(" SQLSTATE: 22000"))
    assert(error.getCondition == lost.getCondition && error.getSqlState == lost.getSqlState)
    assert(error.getMessageParameters == lost.getMessageParameters)
    assert(error.getStackTrace.exists(_.getMethodName.contains("lost")))
  }

  test("options of Kafka's client and of Spark's file readers get the name of the leg") {
    val refused =
      live.named(KafkaErrors.unreachable("b:9092", "ends", Duration.ofSeconds(1), new Exception("x")))
    assert(refused.getMessage.contains("'live.kafka.bootstrap.servers'"))
    val missing = new LegErrors("history", "files").named(FileErrors.fileNotFound("/a.csv", new FileNotFoundException))
    assert(missing.getMessage.contains("set 'history.ignoreMissingFiles' to 'true'"))
  }

  test("options of a hand-over get the name of the leg") {
    val gap = live.named(KafkaErrors.timeGap(Instant.EPOCH, Seq(LogPartition("onGap", 0) -> None)))
    assert(gap.getCondition == "SPLICE_KAFKA_DATA.HAND_OVER_TIME_GAP")
    assert(gap.getMessage.contains("set 'live.onGap' to 'warn'"))
    assert(gap.getMessage.contains("onGap-0 no longer has records"), "the name of a topic stays")
    val conditions = new ErrorConditions("splice/kafka/dynamic/error-conditions.json")
    val several    = conditions.error("SPLICE_DYNAMIC_KAFKA.AMBIGUOUS_HAND_OVER", "topics" -> "t on east and west")
    val named      = new LegErrors("live", "dynamicKafka").named(several)
    assert(named.getMessage.contains("set 'live.handOver' to 'eventTime'"))
  }

  test("all errors of the hybrid name an option of a leg with the leg") {
    val found = for {
      (condition, text) <- texts
      quoted            <- """'(<\w+>\.)?([A-Za-z][\w.*-]*)'""".r.findAllMatchIn(text)
    } yield (condition, Option(quoted.group(1)), quoted.group(2))
    val bare = found.collect { case (condition, None, key) if isOption(key) => s"'$key' in $condition" }
    assert(bare.isEmpty)
    val prefixed = found.collect { case (_, Some(_), key) => key }.toSet
    assert(prefixed.forall(isOption), prefixed)
    assert(Set("onGap", "handOver.topic", "kafka.bootstrap.servers", "modifiedBefore").subsetOf(prefixed), prefixed)
  }

  test("an error that names the leg is not changed again") {
    val once = live.named(lost)
    assert(live.named(once).getMessage == once.getMessage)
  }

  test("the options of a leg with the name of a prefix of options get the name of the leg once") {
    val leg  = new LegErrors("kafka", "kafka")
    val once = leg.named(KafkaErrors.unreachable("b:9092", "ends", Duration.ofSeconds(1), new Exception("x")))
    assert(once.getMessage.contains("'kafka.kafka.bootstrap.servers'"))
    assert(leg.named(once).getMessage == once.getMessage)
  }

  test("settings of the session and names of files are not options of a leg") {
    val error = FileErrors.sinkLogInvalid("/a/0", "/a", "'b.csv' is missing")
    val text  = new LegErrors("history", "files").named(error).getMessage
    assert(text.contains(s"'${SQLConf.FILESTREAM_SINK_METADATA_IGNORED.key}'"))
    assert(text.contains("'b.csv' is missing"))
  }

  test("an error of a reader names the leg, also after serialisation of the reader") {
    object Failing extends SplitReaderFactory {
      override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
        override def poll(patience: Duration): Poll = throw lost
        override def get(): InternalRow             = fail("nothing was found")
        override def unread                         = Nil
        override def close(): Unit                  = throw lost
      }
    }
    val reader = LegReaders(Failing, RowShape.Same, serialised(live)).rows(TaskRanges(None, IndexedSeq.empty))
    Seq(() => reader.poll(Poll.Forever), () => reader.close()).foreach { call =>
      assert(intercept[SpliceException](call()).getMessage.contains("'live.onOutOfRange'"))
    }
  }

  /** Conditions of the hybrid and their texts. */
  private def texts: Seq[(String, String)] = {
    val file = getClass.getClassLoader.getResourceAsStream("splice/hybrid/error-conditions.json")
    val json = Using.resource(file)(open => new String(open.readAllBytes(), UTF_8))
    for {
      (area, group)     <- Json.read(json).toSeq.flatMap(Json.fields)
      (name, condition) <- Json.field(group, "subClass").toSeq.flatMap(Json.fields)
    } yield s"$area.$name" -> Json.field(condition, "message").toSeq.flatMap(Json.items).map(_.asText).mkString(" ")
  }

  private lazy val ofLegs =
    SourceProvider.all.filterNot(_.kind == HybridSourceProvider.Kind).map(_.options) :+ HybridOptions.leg

  /** True for the key of an option of a leg. */
  private def isOption(key: String): Boolean = ofLegs.exists(_.has(key))

  private def serialised[A](value: A): A = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new ObjectOutputStream(bytes))(_.writeObject(value))
    Using.resource(new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)))(_.readObject().asInstanceOf[A])
  }
}
