// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.{CorruptRecordException, TimeoutException, TopicAuthorizationException}
import org.apache.spark.sql.catalyst.expressions.{LeafExpression, Unevaluable}
import org.apache.spark.sql.types.{DataType, StringType}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.consumer.ReadBudget
import splice.kafka.internal.enumerator.SimulatedRun.range
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.pool.ReaderPool
import splice.kafka.internal.value.{KafkaLog, KafkaSchema}
import splice.source.errors.SpliceException
import splice.source.internal.value.ValuePlan
import splice.source.options.SourceOptions
import splice.source.runtime.SessionSettings
import splice.source.{EnumeratorContext, Poll, ReadMode, TaskRanges}

/** Tests of client errors during a read, and of open resources after a failed task. */
final class ReaderErrorsSuite extends AnyFunSuite {

  private def error(cause: KafkaException): SpliceException = {
    val w = new SlotWorld
    w.client.setPollException(cause)
    val reader = w.reader(range(0, 0, 3))
    val found  = intercept[SpliceException](reader.poll(Poll.Forever))
    reader.close()
    found
  }

  test("a timeout is reported as unresponsive brokers and not as a rejection") {
    val found = error(new TimeoutException("no position within 60000 ms"))
    assert(found.getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE")
    assert(found.getMessage.contains("t-0") && found.getMessage.contains("no position within 60000 ms"))
  }

  test("corrupt records have a separate error") {
    val texts = Seq(
      new KafkaException(
        "Received exception when fetching the next record from t-0. If needed, please seek past the record to continue consumption.",
        new CorruptRecordException("crc")
      ),
      new KafkaException("Record batch for partition t-0 at offset 7 is invalid, cause: crc"),
      new KafkaException("Encountered corrupt message when fetching offset 7 for topic-partition t-0")
    )
    texts.foreach { cause =>
      val found = error(cause)
      assert(found.getCondition == "SPLICE_KAFKA_DATA.CORRUPT_RECORD", cause.getMessage)
      assert(found.getMessage.contains("t-0") && !found.getMessage.contains("rights"))
    }
  }

  test("other errors are reported as rejected") {
    assert(error(new TopicAuthorizationException("no right to read t")).getCondition == "SPLICE_KAFKA.BROKER_ERROR")
  }

  test("a task that fails to create a projection leaves no consumer in use") {
    val options = Map("kafka.bootstrap.servers" -> "127.0.0.1:1", "subscribe" -> "t")
    val plan    = ValuePlan(
      KafkaSchema(includeHeaders = false),
      Vector(ValuePlan.Value),
      Vector(StringType),
      KafkaSettings(SourceOptions(options + ("valueFormat" -> "string"))).value,
      Broken(),
      SessionSettings.current,
      KafkaLog
    )
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, java.time.Clock.systemUTC(), 1, "broken")
    val readers = KafkaReaders(
      KafkaSettings(SourceOptions(options)),
      KafkaSchema(includeHeaders = false),
      context,
      "broken",
      Seq(range(0, 0, 1)),
      new RecordSizes
    ).copy(value = Some(plan))
    // Idle consumers of other suites may be closed, so only consumers in use are compared.
    def inUse  = ReadBudget.ofExecutor.size - ReaderPool.ofExecutor.size
    val before = inUse
    intercept[Exception](readers.rows(TaskRanges(Some(0), Vector(range(0, 0, 1)))))
    assert(inUse == before && ReaderPool.ofExecutor.count(_.run == "broken") == 1)
    ReaderPool.release("broken")
    assert(inUse == before)
  }
}

/** Expression that can neither be compiled nor evaluated. */
final private case class Broken() extends LeafExpression with Unevaluable {
  override def nullable: Boolean  = true
  override def dataType: DataType = throw new IllegalStateException("no projection")
}
