// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.util.Optional

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.header.Headers
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.record.TimestampType
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.range
import splice.kafka.internal.value.KafkaSchema
import splice.source.SplitReader
import splice.source.errors.SpliceException

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Tests that column batches have the same records as rows. */
final class KafkaBatchReaderSuite extends AnyFunSuite {

  private val all = KafkaSchema(includeHeaders = true)

  private def drain[A](reader: KafkaBatchReader)(look: ColumnarBatch => A): Seq[A] = {
    val found = SplitReader.items(reader).map(look).toVector
    reader.close()
    found
  }

  private def offsets(batch: ColumnarBatch): Seq[(Int, Long)] =
    batch.rowIterator.asScala.map(row => row.getInt(3) -> row.getLong(4)).toVector

  test("a batch has the records of one partition of a poll") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7)
    w.client.schedulePollTask(() => ())
    w.client.bring(1, 0, 1)
    assert(drain(w.batches(range(0, 5, 8), range(1, 0, 2)))(offsets) ==
      Seq(Seq(0 -> 5L, 0 -> 6L, 0 -> 7L), Seq(1 -> 0L, 1 -> 1L)))
    assert(w.returned == 1)
  }

  test("a batch ends at the end of its range, and the remaining records begin the next range") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2, 3, 9)
    assert(drain(w.batches(range(0, 0, 2)))(offsets) == Seq(Seq(0 -> 0L, 0 -> 1L)))
    assert(drain(w.batches(range(0, 2, 8)))(offsets) == Seq(Seq(0 -> 2L, 0 -> 3L)))
    assert(drain(w.batches(range(0, 8, 9)))(offsets).isEmpty)
    assert(w.read(range(0, 9, 10)) == Seq(0 -> 9L))
    assert(w.client.seeks == Seq(0 -> 0L))
  }

  test("columns have the values of the record, and closing a batch does not affect the next batch") {
    val w = new SlotWorld
    w.client.schedulePollTask { () =>
      w.client.addRecord(new ConsumerRecord("t", 0, 0L, Array[Byte](7), Array[Byte](8, 9)))
      w.client.addRecord(new ConsumerRecord[Array[Byte], Array[Byte]]("t", 0, 1L, null, null))
    }
    w.client.bring(0, 2)
    val seen = drain(w.batches(range(0, 0, 3))) { batch =>
      val rows = batch.rowIterator.asScala.map { row =>
        val key   = Option.when(!row.isNullAt(0))(row.getBinary(0).toSeq)
        val value = Option.when(!row.isNullAt(1))(row.getBinary(1).toSeq)
        (key, value, row.getUTF8String(2).toString, row.getInt(3), row.getLong(4), row.getLong(5), row.getInt(6))
      }.toVector
      batch.closeIfFreeable()
      rows
    }.flatten
    val none = ConsumerRecord.NO_TIMESTAMP * 1000L
    assert(seen == Seq(
      (Some(Seq[Byte](7)), Some(Seq[Byte](8, 9)), "t", 0, 0L, none, -1),
      (None, None, "t", 0, 1L, none, -1),
      (Some(Seq[Byte](1)), Some(Seq[Byte](2, 3)), "t", 0, 2L, none, -1)
    ))
  }

  test("a value is text if its column is text, even in Spark's projection of a whole batch") {
    val w = new SlotWorld
    w.client.schedulePollTask { () =>
      Seq("äx".getBytes("UTF-8"), null, Array.emptyByteArray).zipWithIndex.foreach { case (value, i) =>
        w.client.addRecord(new ConsumerRecord[Array[Byte], Array[Byte]]("t", 0, i.toLong, null, value))
      }
    }
    val columns = StructType(Seq(StructField(KafkaSchema.Value, StringType)))
    val project = UnsafeProjection.create(columns)
    val seen    = drain(w.batchesOf(columns, range(0, 0, 3))) { batch =>
      batch.rowIterator.asScala.map(row => project(row).copy()).toVector
    }.flatten
    assert(seen.map(row => Option.when(!row.isNullAt(0))(row.getUTF8String(0).toString)) ==
      Seq(Some("äx"), None, Some("")))
  }

  test("a timestamp beyond Spark's range is an error with the record") {
    val w     = new SlotWorld
    val nanos = 1712345678123456789L
    w.client.schedulePollTask { () =>
      w.client.addRecord(new ConsumerRecord[Array[Byte], Array[Byte]](
        "t",
        0,
        0L,
        nanos,
        TimestampType.CREATE_TIME,
        0,
        0,
        null,
        null,
        new RecordHeaders(),
        Optional.empty[Integer]()
      ))
    }
    val _ = drain(w.batches(range(0, 0, 1))) { batch =>
      assert(batch.column(4).getLong(0) == 0L)
      val error = intercept[SpliceException](batch.column(5).getLong(0))
      assert(error.getCondition == "SPLICE_KAFKA_DATA.TIMESTAMP_OUT_OF_RANGE")
      assert(Seq("t-0", "offset 0", nanos.toString).forall(error.getMessage.contains(_)), error)
    }
  }

  test("headers are an array of structs or null, even in Spark's projection of a whole batch") {
    val w = new SlotWorld
    w.client.schedulePollTask { () =>
      w.client.addRecord(headed(0, new RecordHeaders().add("a", Array[Byte](1)).add("ä", null)))
      w.client.addRecord(headed(1, new RecordHeaders()))
      (2L until 40L).foreach(i => w.client.addRecord(headed(i, new RecordHeaders().add(s"k$i", Array(i.toByte)))))
    }
    w.client.schedulePollTask(() => w.client.addRecord(headed(40, new RecordHeaders().add("last", null))))
    val project = UnsafeProjection.create(all)
    val seen    = drain(w.batchesOf(all, range(0, 0, 41))) { batch =>
      // Reads all arrays of a batch before their elements.
      val arrays = (0 until batch.numRows).map(i =>
        Option.when(!batch.column(7).isNullAt(i))(batch.column(7).getArray(i))
      )
      val direct = arrays.map(_.fold(Seq.empty[(String, Option[Seq[Byte]])])(elements))
      val rows   = batch.rowIterator.asScala.map(row => project(row).copy()).toVector
      assert(rows.map(row => if (row.isNullAt(7)) Seq.empty else elements(row.getArray(7))) == direct)
      assert(rows.map(_.isNullAt(7)) == direct.map(_.isEmpty))
      direct
    }.flatten
    val middle = (2 until 40).map(i => Seq(s"k$i" -> Option(Seq(i.toByte))))
    assert(seen == Seq(Seq("a" -> Some(Seq[Byte](1)), "ä" -> None), Seq.empty) ++ middle :+ Seq("last" -> None))
  }

  private def headed(offset: Long, headers: Headers) = new ConsumerRecord[Array[Byte], Array[Byte]](
    "t",
    0,
    offset,
    0L,
    TimestampType.CREATE_TIME,
    0,
    0,
    null,
    null,
    headers,
    Optional.empty[Integer]()
  )

  private def elements(array: ArrayData): Seq[(String, Option[Seq[Byte]])] = (0 until array.numElements()).map { i =>
    val one = array.getStruct(i, 2)
    one.getUTF8String(0).toString -> Option.when(!one.isNullAt(1))(one.getBinary(1).toSeq)
  }
}
