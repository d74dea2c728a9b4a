// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.consumer.ReadBudget
import splice.kafka.internal.enumerator.SimulatedRun.{range, t}
import splice.kafka.internal.options.{KafkaSettings, RackFrom, TopicRecreated}
import splice.kafka.internal.pool.{ReaderPool, ReaderSettings}
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.kafka.internal.value.KafkaSchema
import splice.source.errors.SpliceException
import splice.source.internal.ReaderSequence
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, Poll, ReadMode, TaskRanges}
import splice.testkit.LoggedMessages

/** Tests of the creation of readers from the options of a source. */
final class KafkaReadersSuite extends AnyFunSuite {

  private def readers(run: String, mode: ReadMode, sizes: RecordSizes, options: (String, String)*): KafkaReaders =
    readersOf(Seq(range(0, 0, 1)), run, mode, sizes, options: _*)

  private def readersOf(
      ranges: Seq[KafkaSplitRange],
      run: String,
      mode: ReadMode,
      sizes: RecordSizes,
      options: (String, String)*
  ): KafkaReaders = {
    val all     = Map("kafka.bootstrap.servers" -> "127.0.0.1:1", "subscribe" -> "t") ++ options
    val context = EnumeratorContext(new MemorySideLog, mode, java.time.Clock.systemUTC(), 1, run)
    KafkaReaders(
      KafkaSettings(SourceOptions(all)),
      KafkaSchema(includeHeaders = false),
      context,
      s"$run-report",
      ranges,
      sizes,
      waits = ranges.exists(_.isOpen)
    )
  }

  private def settings(options: (String, String)*): ReaderSettings =
    readers("settings", ReadMode.Stream, new RecordSizes, options: _*).settings

  test("each policy option sets only the policy of the same name") {
    def policies(s: ReaderSettings) =
      (s.failOnDataLoss, s.failOutOfRange, s.failRemoved, s.recreated == TopicRecreated.Fail)
    assert(policies(settings()) == ((true, true, true, true)))
    assert(policies(settings("onOutOfRange" -> "earliest")) == ((true, false, true, true)))
    assert(policies(settings("onTopicRemoved" -> "drain")) == ((true, true, false, true)))
    assert(policies(settings("onTopicRecreated" -> "restart")) == ((true, true, true, false)))
    assert(!settings("failOnDataLoss" -> "false").failOnDataLoss)
  }

  test("the options and the enumerator set timeouts, retries and the report key") {
    val default = settings()
    assert(default.pollTimeout == Duration.ofSeconds(120) && default.bufferBytes.isEmpty)
    assert(default.reportKey == "settings-report")
    val set = settings(
      "kafkaConsumer.pollTimeoutMs" -> "1234",
      "fetchOffset.numRetries"      -> "7",
      "fetchOffset.retryIntervalMs" -> "89",
      "readBufferBytes"             -> "64m"
    )
    assert(set.pollTimeout == Duration.ofMillis(1234) && set.retries == 7)
    assert(set.retryInterval == Duration.ofMillis(89) && set.bufferBytes.contains(64L << 20))
  }

  test("readers have the record sizes of their topics") {
    val sizes = new RecordSizes
    sizes.learn("t", 10, 500)
    sizes.learn("u", 10, 900)
    assert(readers("sizes", ReadMode.Stream, sizes).sizes == Map("t" -> 50.0))
  }

  private def idle(run: String, isCommitted: Boolean): Int =
    ReaderPool.ofExecutor.count(key => key.run == run && key.client.readsCommitted == isCommitted)

  private def inUse: Int = ReadBudget.ofExecutor.size - ReaderPool.ofExecutor.size

  private val holes = KafkaSplitRange(t(0), 0, 3, Some(Holes(Vector(0L -> 1L, 2L -> 3L), None)))(None)

  test("a client with read_committed reads holes before the other ranges") {
    val created = readers("holes", ReadMode.Stream, new RecordSizes)
    val before  = inUse
    val reader  = created.rows(TaskRanges(Some(0), Vector(range(0, 3, 5), holes)))
    assert(reader.poll(Duration.ZERO) == Poll.Pending && inUse == before + 1)
    reader.close()
    assert(idle("holes", isCommitted = true) == 1 && idle("holes", isCommitted = false) == 0)
    created.batches(TaskRanges(Some(0), Vector(range(0, 3, 5)))).close()
    assert(idle("holes", isCommitted = true) == 1 && idle("holes", isCommitted = false) == 1)
    ReaderPool.release("holes")
    assert(inUse == before && idle("holes", isCommitted = true) == 0)
  }

  test("in a batch with open ranges, a second client reads the partitions without holes") {
    val after   = range(0, 3, Long.MaxValue)
    val other   = range(1, 0, Long.MaxValue)
    val created = readersOf(Seq(after, other, holes), "both", ReadMode.Stream, new RecordSizes)
    val before  = inUse
    assert(created.atOnce == 2)
    val reader = created.rows(TaskRanges(Some(0), Vector(after, other, holes)))
    assert(reader.poll(Duration.ZERO) == Poll.Pending && inUse == before + 2)
    assert(reader.unread.toSet == Set(after, other, holes))
    reader.close()
    assert(idle("both", isCommitted = true) == 1 && idle("both", isCommitted = false) == 1)
    ReaderPool.release("both")
  }

  test("a reader reads one range of a partition at a time") {
    val (early, late, last) = (range(0, 3, 5), range(0, 20, 23), range(0, 30, 31))
    val other               = range(1, 0, 9)
    assert(KafkaReaders.withoutRepeats(Vector(early, other, late, last)) ==
      Seq(Vector(early, other), Vector(late), Vector(last)))
    assert(KafkaReaders.withoutRepeats(Vector(other, late)) == Seq(Vector(other, late)))
    val reader = readers("repeated", ReadMode.Stream, new RecordSizes).rows(TaskRanges(Some(0), Vector(early, late)))
    assert(reader.poll(Duration.ZERO) == Poll.Pending && reader.isInstanceOf[ReaderSequence[_]])
    reader.close()
    ReaderPool.release("repeated")
  }

  test("a bounded read closes its consumer, and a stream keeps its consumer for the next batch") {
    Seq(ReadMode.Batch -> 0, ReadMode.Stream -> 1).foreach { case (mode, kept) =>
      val before = inUse
      readers("once", mode, new RecordSizes).rows(TaskRanges(Some(0), Vector(range(0, 0, 1)))).close()
      assert(inUse == before && idle("once", isCommitted = false) == kept, mode)
      ReaderPool.release("once")
    }
  }

  test("a client that cannot be created is an error with the partitions, and keeps no memory share") {
    val before  = inUse
    val created = readers("refused", ReadMode.Stream, new RecordSizes, "kafka.receive.buffer.bytes" -> "many")
    val error   = intercept[SpliceException](created.rows(TaskRanges(Some(0), Vector(range(0, 0, 1), range(1, 0, 1)))))
    assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR" && error.getMessage.contains("t-0, t-1"), error)
    assert(inUse == before)
  }

  test("an executor without a rack logs one warning") {
    val from          = RackFrom.Environment("SPLICE_TEST_NO_SUCH_VARIABLE")
    val (_, messages) = LoggedMessages.during("splice.kafka.internal") {
      (1 to 3).foreach(_ => assert(ExecutorRack.property(from).isEmpty))
      assert(ExecutorRack.property(RackFrom.Nowhere).isEmpty)
    }
    assert(messages.size == 1 && messages.head.contains("env:SPLICE_TEST_NO_SUCH_VARIABLE"), messages)
    val path = Option(System.getenv("PATH")).map(_.trim).getOrElse(fail("no PATH"))
    assert(ExecutorRack.property(RackFrom.Environment("PATH")) == Map("client.rack" -> path))
  }
}
