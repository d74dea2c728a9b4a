// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.util.Optional

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.record.TimestampType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.consumer.{Chunk, ClientRecords, OpenRange, RecordWindow}
import splice.kafka.internal.split.KafkaSplitRange
import splice.kafka.internal.value.KafkaSchema
import splice.source.LogPartition
import splice.source.errors.SpliceException

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Tests that the lazy row has the values of a plain row. */
final class RecordRowSuite extends AnyFunSuite {

  private val all = KafkaSchema(includeHeaders = true)

  private def record(key: Array[Byte], value: Array[Byte], headers: (String, Array[Byte])*) = {
    val own = new RecordHeaders()
    headers.foreach { case (k, v) => own.add(k, v) }
    timed(1700000000123L, key, value, own)
  }

  private def timed(millis: Long, key: Array[Byte], value: Array[Byte], headers: RecordHeaders = new RecordHeaders()) =
    new ConsumerRecord(
      "tøpic",
      3,
      42L,
      millis,
      TimestampType.LOG_APPEND_TIME,
      1,
      1,
      key,
      value,
      headers,
      Optional.empty[Integer]()
    )

  private def expected(r: ConsumerRecord[Array[Byte], Array[Byte]], headers: Any): InternalRow = new GenericInternalRow(
    Array[Any](r.key, r.value, UTF8String.fromString(r.topic), 3, 42L, 1700000000123000L, 1, headers)
  )

  private def shown(r: ConsumerRecord[Array[Byte], Array[Byte]], columns: StructType): RecordRow = {
    val row = new RecordRow(RecordField.of(columns), window(r))
    row.show(0)
    row
  }

  private def window(records: ConsumerRecord[Array[Byte], Array[Byte]]*): RecordWindow = {
    val own   = new ClientRecords
    val until = records.last.offset + 1
    val range = KafkaSplitRange(LogPartition(records.head.topic, records.head.partition), 0, until)(None)
    own.open(Chunk(new OpenRange(range), records.asJava, 0))
    assert(own.next() && own.rows == records.size)
    own
  }

  private def unsafe(row: InternalRow, columns: StructType) = UnsafeProjection.create(columns)(row).copy()

  private def bytes(text: String) = text.getBytes("UTF-8")

  private val full = record(bytes("k"), bytes("v"), "a" -> bytes("1"), "b" -> null)

  private val headersOfFull = new GenericArrayData(
    Array[Any](
      new GenericInternalRow(Array[Any](UTF8String.fromString("a"), bytes("1"))),
      new GenericInternalRow(Array[Any](UTF8String.fromString("b"), null))
    )
  )

  test("all columns have their values in Spark's projection") {
    assert(unsafe(shown(full, all), all) == unsafe(expected(full, headersOfFull), all))
  }

  test("a missing key, value or headers are null") {
    val bare = record(null, null)
    assert(unsafe(shown(bare, all), all) == unsafe(expected(bare, null), all))
    val row = shown(bare, all)
    assert(row.isNullAt(0) && row.isNullAt(1) && row.isNullAt(7) && !row.isNullAt(2))
  }

  private val withText = StructType(all.map {
    case value if value.name == KafkaSchema.Value => value.copy(dataType = StringType)
    case other                                    => other
  })

  test("a value is text if its column is text, and a missing value is null") {
    val text   = record(bytes("k"), bytes("äx"))
    val values = Array[Any](bytes("k"), UTF8String.fromString("äx"), UTF8String.fromString("tøpic"))
    val three  = StructType(withText.take(3))
    assert(unsafe(shown(text, three), three) == unsafe(new GenericInternalRow(values), three))
    assert(shown(text, withText).get(1, StringType) == UTF8String.fromString("äx"))
    val none = shown(record(null, null), withText)
    assert(none.isNullAt(1) && none.get(1, StringType) == null)
  }

  test("the row has only the requested columns, in their order") {
    val some = StructType(Seq("offset", "value", "partition", "timestamp", "timestampType", "topic", "key").map(all(_)))
    val row  = shown(full, some)
    assert(row.numFields == 7)
    val values = expected(full, headersOfFull).toSeq(all)
    val picked = new GenericInternalRow(some.fieldNames.map(n => values(all.fieldIndex(n))))
    assert(unsafe(row, some) == unsafe(picked, some))
    assert(shown(full, new StructType()).numFields == 0)
  }

  test("get by type returns the same values as the typed getters") {
    val row = shown(full, all)
    val got = all.indices.init.map(i => row.get(i, all(i).dataType))
    assert(got == expected(full, headersOfFull).toSeq(all).init)
  }

  test("a timestamp beyond Spark's range is an error with the record") {
    val at = all.fieldIndex("timestamp")
    Seq(Long.MaxValue / 1000, Long.MinValue / 1000, -1L).foreach(millis =>
      assert(shown(timed(millis, null, null), all).getLong(at) == Math.multiplyExact(millis, 1000L))
    )
    Seq(1712345678123456789L, Long.MaxValue / 1000 + 1, Long.MinValue / 1000 - 1, Long.MinValue).foreach { millis =>
      val row = shown(timed(millis, null, null), all)
      Seq(() => row.getLong(at), () => row.get(at, all(at).dataType)).foreach { read =>
        val error = intercept[SpliceException](read())
        assert(error.getCondition == "SPLICE_KAFKA_DATA.TIMESTAMP_OUT_OF_RANGE")
        assert(Seq("tøpic-3", "offset 42", millis.toString).forall(error.getMessage.contains(_)), error)
      }
      assert(row.getLong(all.fieldIndex("offset")) == 42L)
    }
  }

  test("bytes are not copied from the record") {
    assert(shown(full, all).getBinary(1) eq full.value)
  }

  test("a copy does not change") {
    val row = new RecordRow(RecordField.of(all), window(full, record(bytes("other"), null)))
    row.show(0)
    val kept = row.copy()
    row.show(1)
    assert(row.getBinary(0).toSeq == bytes("other").toSeq)
    assert(unsafe(kept, all) == unsafe(expected(full, headersOfFull), all))
  }

  test("a row is read-only") {
    val row = shown(full, all)
    intercept[UnsupportedOperationException](row.setNullAt(0))
    intercept[UnsupportedOperationException](row.update(0, bytes("x")))
  }
}
