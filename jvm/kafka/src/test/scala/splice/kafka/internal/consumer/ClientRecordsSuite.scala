// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.lang.ref.WeakReference
import java.util.Optional

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.record.TimestampType
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.split.{Holes, KafkaSplitRange}
import splice.source.LogPartition

/** Tests of the window over chunks of client records. */
final class ClientRecordsSuite extends AnyFunSuite {

  private type Record = ConsumerRecord[Array[Byte], Array[Byte]]

  private def records(from: Long, count: Int, bytes: Int = 10): Vector[Record] =
    Vector.tabulate(count) { i =>
      new ConsumerRecord(
        "t",
        0,
        from + i,
        0L,
        TimestampType.CREATE_TIME,
        -1,
        bytes,
        Array.emptyByteArray,
        new Array[Byte](bytes),
        new RecordHeaders,
        Optional.empty[Integer]()
      )
    }

  private def chunk(records: Seq[Record], until: Long = Long.MaxValue, holes: Option[Holes] = None): Chunk =
    Chunk(new OpenRange(KafkaSplitRange(LogPartition("t", 0), 0, until, holes)(None)), records.asJava, 0)

  private def shown(window: ClientRecords, chunk: Chunk): Seq[Long] = {
    window.open(chunk)
    val offsets = if (window.next()) (0 until window.rows).map(window.offset) else Nil
    assert(!window.hasMore)
    offsets
  }

  test("a chunk has its records, independent of the size of the previous chunk") {
    val window = new ClientRecords
    val sizes  = Seq(5, 3, 8, 8, 1, 2000, 4)
    sizes.scanLeft(0L)(_ + _).zip(sizes).foreach { case (from, count) =>
      assert(shown(window, chunk(records(from, count))) == (from until from + count))
      assert(window.bytes == 10L * count)
      window.clear()
      assert(window.rows == 0)
    }
  }

  test("only records after the end of a range are leftover records") {
    val window = new ClientRecords
    assert(shown(window, chunk(records(0, 9))) == (0L until 9L))
    window.clear()
    assert(shown(window, chunk(records(9, 4), until = 11)) == Seq(9L, 10L))
    assert(window.left(1000).toSeq.flatMap(_.records.asScala).map(_.offset) == Seq(11L, 12L))
    window.clear()
    assert(shown(window, chunk(records(13, 2))) == Seq(13L, 14L) && window.left(1000).isEmpty)
  }

  /** True if a record of a chunk is garbage after the end of the chunk. */
  private def isFreed(bytes: Int, until: Long, holes: Option[Holes] = None): Boolean = {
    val window                        = new ClientRecords
    def over(): WeakReference[AnyRef] = {
      val all = records(0, 100, bytes)
      shown(window, chunk(all, until, holes))
      window.clear()
      new WeakReference[AnyRef](all.head)
    }
    val record                                 = over()
    @tailrec def collected(left: Int): Boolean = {
      System.gc()
      if (Option(record.get).isEmpty) true else left > 0 && collected(left - 1)
    }
    val freed = collected(20)
    assert(window.rows == 0)
    freed
  }

  test("records of a large chunk and of a partly read chunk are freed") {
    assert(isFreed(bytes = 10000, until = Long.MaxValue))
    assert(isFreed(bytes = 10, until = 50))
    assert(isFreed(bytes = 10, until = 200, Some(Holes(Vector(20L -> 30L), None))))
  }
}
