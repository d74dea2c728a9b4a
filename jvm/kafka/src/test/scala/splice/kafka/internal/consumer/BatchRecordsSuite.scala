// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.nio.ByteBuffer
import java.util.ArrayList

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.errors.CorruptRecordException
import org.apache.kafka.common.header.Header
import org.apache.kafka.common.header.internals.RecordHeader
import org.apache.kafka.common.record._
import org.apache.kafka.common.utils.BufferSupplier
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.reader.{RecordField, RecordRow}
import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.source.LogPartition

/** Tests that the window of batches has the records of Kafka's iterators. */
final class BatchRecordsSuite extends AnyFunSuite {

  private case class Row(
      offset: Long,
      millis: Long,
      kind: Int,
      key: Option[Seq[Byte]],
      value: Option[Seq[Byte]],
      headers: Seq[(String, Option[Seq[Byte]])]
  )

  private val none = Option.empty[Array[Byte]].orNull

  private val codecs = Seq(
    Compression.NONE,
    Compression.gzip().build(),
    Compression.lz4().build(),
    Compression.snappy().build(),
    Compression.zstd().build()
  )

  private def bytes(random: Random, most: Int): Array[Byte] =
    if (random.nextInt(8) == 0) none else random.nextBytes(random.nextInt(most))

  private def headers(random: Random): Array[Header] = Array.fill(math.max(random.nextInt(6) - 3, 0)) {
    new RecordHeader(random.nextString(random.nextInt(4)), bytes(random, 9))
  }

  /** Creates batches with offsets that rise by 1 to 3. Some batches are compacted, and some have log append times. */
  private def log(random: Random, batches: Int, codec: Compression, magic: Byte): MemoryRecords = {
    val all  = ByteBuffer.allocate(64 << 20)
    var next = random.nextInt(5).toLong
    (1 to batches).foreach { _ =>
      val kind    = if (random.nextInt(4) == 0) TimestampType.LOG_APPEND_TIME else TimestampType.CREATE_TIME
      val buffer  = ByteBuffer.allocate(64 << 10)
      val builder = MemoryRecords.builder(buffer, magic, codec, kind, next, 1700000000000L + random.nextInt(1000))
      (0 to random.nextInt(40)).foreach { _ =>
        val millis = 1600000000000L + random.nextInt()
        val most   = if (random.nextInt(50) == 0) 200000 else 60
        if (magic < RecordBatch.MAGIC_VALUE_V2)
          builder.appendWithOffset(next, millis, bytes(random, 20), bytes(random, most))
        else builder.appendWithOffset(next, millis, bytes(random, 20), bytes(random, most), headers(random))
        next += 1 + (if (magic < RecordBatch.MAGIC_VALUE_V2) 0 else random.nextInt(3))
      }
      val built = builder.build().buffer
      if (built.remaining <= all.remaining) all.put(built)
    }
    MemoryRecords.readableRecords(all.flip())
  }

  private def expected(records: MemoryRecords): Seq[Row] = records.batches.asScala.toSeq.flatMap { batch =>
    batch.asScala.map { record =>
      def copy(buffer: ByteBuffer) =
        Option(buffer).map(b => Array.tabulate(b.remaining)(i => b.get(b.position() + i)).toSeq)
      Row(
        record.offset,
        record.timestamp,
        batch.timestampType.id,
        copy(record.key),
        copy(record.value),
        record.headers.toSeq.map(h => h.key -> Option(h.value).map(_.toSeq))
      )
    }
  }

  private def polled(records: MemoryRecords): ArrayList[ConsumerRecord[Array[Byte], Array[Byte]]] = {
    val list = new ArrayList[ConsumerRecord[Array[Byte], Array[Byte]]]
    PassedBatches.of(records).asScala.foreach { group =>
      val one = group.streamingIterator(BufferSupplier.NO_CACHING).next()
      assert(one.offset == group.lastOffset)
      list.add(new WireBatches(one.headers.head.asInstanceOf[WireBatches].batches).record("t", 0))
    }
    list
  }

  private def range(from: Long, until: Long, holes: Option[Holes] = None) =
    new OpenRange(KafkaSplitRange(LogPartition("t", 0), from, until, holes)(None))

  private def shown(window: RecordWindow): Seq[Row] = (0 until window.rows).map { i =>
    def part(isNull: Boolean, bytes: => Array[Byte]) = Option.when(!isNull)(bytes.toSeq)
    val own                                          = new ShownHeaders
    window.headers(i, own)
    val headers = (0 until own.size).map(h =>
      own.key(h).toString -> Option.when(!own.isValueNull(h))(own.value(h).toSeq)
    )
    assert(window.hasHeaders(i) == headers.nonEmpty)
    assert((0 until own.size).forall(h => own.key(h) == UTF8String.fromString(own.key(h).toString)))
    if (!window.isValueNull(i)) assert(window.text(i).getBytes.toSeq == window.value(i).toSeq)
    Row(
      window.offset(i),
      window.timestamp(i),
      window.timestampType(i),
      part(window.isKeyNull(i), window.key(i)),
      part(window.isValueNull(i), window.value(i)),
      headers
    )
  }

  private def drain(window: RecordWindow): Seq[Row] =
    Iterator.continually(window.next()).takeWhile(identity).flatMap { _ =>
      val rows = shown(window)
      assert(window.bytes == rows.map(r => r.key.fold(0)(_.size) + r.value.fold(0)(_.size)).sum)
      rows
    }.toVector

  private def reads(magic: Byte, seeds: Range): Unit = seeds.foreach { seed =>
    val random  = new Random(seed)
    val codec   = codecs(if (magic < RecordBatch.MAGIC_VALUE_V2) random.nextInt(2) else seed % codecs.size)
    val records = log(random, 1 + random.nextInt(12), codec, magic)
    val rows    = expected(records)
    val ends    = Seq.fill(3)(rows(random.nextInt(rows.size)).offset + random.nextInt(2)).sorted
    // Consecutive ranges. Leftover records of a range begin the next range.
    val window = new BatchRecords
    var next   = polled(records)
    val starts = 0L +: ends
    starts.zip(ends :+ (rows.last.offset + 1)).foreach { case (from, until) =>
      window.open(Chunk(range(from, until), next, from))
      assert(
        drain(window) == rows.filter(r => from <= r.offset && r.offset < until),
        s"seed $seed from $from until $until"
      )
      val left = window.left(Long.MaxValue)
      assert(left.nonEmpty || rows.forall(_.offset < until))
      next = new ArrayList(left.fold(polled(MemoryRecords.EMPTY))(own => new ArrayList(own.records)))
      window.clear()
    }
    window.free()
  }

  test("records, nulls, headers, times and leftover records are read with each codec")(reads(
    RecordBatch.MAGIC_VALUE_V2,
    0 until 100
  ))

  test("the name of a header that is not UTF-8 has the replacement characters of the client") {
    val builder = MemoryRecords.builder(
      ByteBuffer.allocate(1 << 10),
      RecordBatch.MAGIC_VALUE_V2,
      Compression.NONE,
      TimestampType.CREATE_TIME,
      0L
    )
    builder.append(0L, Array[Byte](1), Array[Byte](2), Array[Header](new RecordHeader("name", none)))
    val records = builder.build()
    val array   = records.buffer.array
    val at      = array.indexOfSlice("name".getBytes)
    Seq(0xc3, 0x28, 0xff).zipWithIndex.foreach { case (byte, i) => array(at + i) = byte.toByte }
    val window = new BatchRecords
    window.open(Chunk(range(0, 1), polled(records), 0))
    assert(drain(window) == expected(records) && expected(records).head.headers.head._1.contains("\ufffd"))
    window.free()
  }

  test("a copy of a row keeps its text when other records are decompressed into the same bytes") {
    val records = log(new Random(3), 40, Compression.zstd().build(), RecordBatch.MAGIC_VALUE_V2)
    val rows    = expected(records)
    val window  = new BatchRecords
    val row     = new RecordRow(Array(RecordField.Text), window)
    window.open(Chunk(range(0, rows.last.offset + 1), polled(records), 0))
    val copies = Iterator.continually(window.next()).takeWhile(identity).map { _ =>
      (0 until window.rows).map { i =>
        row.show(i)
        row.copy()
      }
    }.toVector
    assert(copies.size > 1)
    assert(copies.flatten.map(copy => Option.when(!copy.isNullAt(0))(copy.getUTF8String(0).getBytes.toSeq)) ==
      rows.map(_.value))
    window.free()
  }

  test("batches of old formats are read")(Seq(
    RecordBatch.MAGIC_VALUE_V0,
    RecordBatch.MAGIC_VALUE_V1
  ).foreach(reads(_, 0 until 10)))

  test("only the offsets of holes are returned") {
    val records = log(new Random(1), 10, Compression.NONE, RecordBatch.MAGIC_VALUE_V2)
    val rows    = expected(records)
    val wanted  = Seq(rows(3).offset -> rows(7).offset, rows(20).offset -> rows(40).offset)
    val window  = new BatchRecords
    window.open(Chunk(range(0, rows.last.offset + 1, Some(Holes(wanted.toVector, None))), polled(records), 0))
    assert(drain(window) == rows.filter(r => wanted.exists { case (a, b) => a <= r.offset && r.offset < b }))
  }

  test("leftover batches do not keep the response in memory, and are dropped above the limit") {
    val records = log(new Random(2), 3, Compression.NONE, RecordBatch.MAGIC_VALUE_V2)
    val window  = new BatchRecords
    window.open(Chunk(range(0, expected(records)(1).offset), polled(records), 0))
    assert(drain(window).size == 1)
    val left = window.left(Long.MaxValue).getOrElse(fail("no leftover records"))
    assert(left.records.asScala.flatMap(WireBatches.in).size == 3 && left.bytes == records.sizeInBytes + 3 * 400)
    left.records.forEach(one => WireBatches.in(one).foreach(b => assert(b.array ne records.buffer.array)))
    assert(window.left(left.bytes - 1).exists(own => own.records.isEmpty && own.bytes == left.bytes))
  }

  test("any corrupt records are an error with their partition and offset") {
    val records = log(new Random(3), 1, Compression.NONE, RecordBatch.MAGIC_VALUE_V2)
    val rows    = expected(records)
    val first   = DefaultRecordBatch.RECORD_BATCH_OVERHEAD
    var failed  = 0
    (first until records.sizeInBytes).foreach { i =>
      val own = Array.tabulate(records.sizeInBytes)(records.buffer.get(_))
      own(i) = (own(i) ^ 0x80).toByte
      val window = new BatchRecords
      window.open(Chunk(range(0, rows.last.offset + 1), polled(MemoryRecords.readableRecords(ByteBuffer.wrap(own))), 0))
      try { val _ = drain(window) }
      catch {
        case e: CorruptRecordException =>
          failed += 1
          assert(e.getMessage.contains("t-0"))
      }
    }
    assert(failed > 0)
  }

  private def builder(buffer: ByteBuffer, first: Long, producer: Long, transactional: Boolean) = MemoryRecords.builder(
    buffer,
    RecordBatch.MAGIC_VALUE_V2,
    Compression.NONE,
    TimestampType.CREATE_TIME,
    first,
    0L,
    producer,
    0.toShort,
    0,
    transactional,
    0
  )

  /** Creates batches with one record per producer. A negative producer id writes a control batch. */
  private def groups(producers: Long*): Seq[Seq[Long]] = {
    val all = ByteBuffer.allocate(1 << 20)
    producers.zipWithIndex.foreach { case (producer, i) =>
      if (producer < 0)
        MemoryRecords.writeEndTransactionalMarker(
          all,
          i.toLong,
          0L,
          0,
          -producer,
          0.toShort,
          new EndTransactionMarker(ControlRecordType.ABORT, 0)
        )
      else {
        val one = builder(ByteBuffer.allocate(1 << 16), i.toLong, producer, transactional = producer != 9)
        one.append(0L, none, Array[Byte](1))
        all.put(one.build().buffer)
      }
    }
    PassedBatches.of(MemoryRecords.readableRecords(all.flip())).asScala.toSeq
      .map(group => group.baseOffset to group.lastOffset)
  }

  test("a group has batches of one producer without a transaction end between them") {
    assert(groups(9, 9, 9) == Seq(Seq(0, 1, 2)))
    assert(groups(1, 1, 2, 1, 9) == Seq(Seq(0, 1), Seq(2), Seq(3), Seq(4)))
    assert(groups(1, -1, 1, -1, -2) == Seq(Seq(0), Seq(1), Seq(2), Seq(3), Seq(4)))
  }

  test("the size of a group is limited to some polls, except for a single batch") {
    val all = ByteBuffer.allocate(4 << 20)
    Seq(50, 50, 50, 300, 50, 50, 50).zipWithIndex.foreach { case (kib, i) =>
      val one = builder(ByteBuffer.allocate(1 << 19), i.toLong, 9, transactional = false)
      one.append(0L, none, new Array[Byte](kib << 10))
      all.put(one.build().buffer)
    }
    val sizes = PassedBatches.of(MemoryRecords.readableRecords(all.flip())).asScala.toSeq.map(_.sizeInBytes >> 10)
    assert(sizes == Seq(100, 50, 300, 100, 50))
  }
}
