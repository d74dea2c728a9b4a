// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.lang.ref.WeakReference
import java.nio.ByteBuffer
import java.util.{ArrayList, Optional}

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.header.internals.{RecordHeader, RecordHeaders}
import org.apache.kafka.common.record.TimestampType
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.consumer.ReadLease
import splice.kafka.internal.consumer.SlotConsumer.Leftover
import splice.kafka.internal.enumerator.SimulatedRun.range
import splice.kafka.internal.options.ReadLimits
import splice.kafka.internal.reader.SlotWorld
import splice.testkit.internal.Patient

/** Tests of leftover records, which a poll returns after the end of a range. */
final class LeftoverSuite extends AnyFunSuite with Patient {

  private def record(offset: Long, headers: RecordHeaders = new RecordHeaders, bytes: Int = 10) = new ConsumerRecord(
    "t",
    0,
    offset,
    0L,
    TimestampType.CREATE_TIME,
    0,
    bytes,
    Array.empty[Byte],
    new Array[Byte](bytes),
    headers,
    Optional.empty[Integer]
  )

  private def isFreed(thing: WeakReference[_ <: AnyRef]): Boolean = {
    System.gc()
    Option(thing.get()).isEmpty
  }

  test("leftover records keep neither returned records nor the response in memory") {
    // Like in the client, headers refer to the response until they are read.
    var response = ByteBuffer.wrap(new Array[Byte](1 << 20))
    response.put(0, 'k'.toByte).put(1, 'v'.toByte)
    val headers = new RecordHeaders
    headers.add(new RecordHeader(
      response.duplicate().limit(1).slice(),
      response.duplicate().position(1).limit(2).slice()
    ))
    var polled = new ArrayList[ConsumerRecord[Array[Byte], Array[Byte]]]
    (0L to 3L).foreach(o => polled.add(if (o < 3) record(o) else record(o, headers)))
    val (whole, handedOver, fetched) =
      (new WeakReference(polled), new WeakReference(polled.get(0)), new WeakReference(response.array))
    val left = Leftover.of(polled, 2)
    polled = new ArrayList
    response = ByteBuffer.allocate(0)
    eventually(assert(isFreed(whole) && isFreed(handedOver) && isFreed(fetched)))
    assert(left.records.size == 2 && left.records.get(0).offset == 2)
    val header = left.records.get(1).headers.lastHeader("k")
    assert(new String(header.value) == "v")
  }

  test("the size of leftover records includes keys, values, headers and objects") {
    val headers = new RecordHeaders
    headers.add("key", Array[Byte](1, 2)).add("none", Option.empty[Array[Byte]].orNull)
    val polled = new ArrayList[ConsumerRecord[Array[Byte], Array[Byte]]]
    polled.add(record(0, bytes = 1000))
    polled.add(record(1, headers, bytes = 7))
    assert(Leftover.of(polled, 1).bytes == 400 + 7 + (400 + 3 + 2) + (400 + 4))
    assert(Leftover.of(polled, 2).bytes == 0)
  }

  test("leftover records above the lease are dropped, and the next range seeks without loss or duplicates") {
    // The lease fits the leftover records of one partition. The mock counts no bytes of keys and values.
    val room  = 3 * 400L
    val lease = new ReadLease(ReadLimits(8, 1 << 20, 1 << 20, 500, room), None, None)
    val w     = new SlotWorld(lease = lease)
    w.client.bring(0, 0, 1, 2, 3)
    w.client.bring(1, 0, 1, 2, 3)
    assert(w.read(range(0, 0, 1), range(1, 0, 1)).sorted == Seq(0 -> 0L, 1 -> 0L))
    assert(w.consumer.leftoverBytes == room)
    w.client.bring(1, 1, 2, 3)
    assert(w.read(range(0, 1, 4), range(1, 1, 4)).sorted == (for (p <- 0 to 1; o <- 1L to 3L) yield p -> o))
    assert(w.client.seeks.sorted == Seq(0 -> 0L, 1 -> 0L, 1 -> 1L))
    assert(w.consumer.leftoverBytes == 0)
  }

  test("a reader keeps no returned record in memory") {
    val w = new SlotWorld
    w.client.bring(0, 0, 1, 2)
    w.client.schedulePollTask(() => ())
    val reader = w.batches(range(0, 0, 4))
    assert(reader.poll(java.time.Duration.ZERO) == splice.source.Poll.Found)
    val value = new WeakReference(reader.get().column(1).getBinary(0))
    assert(reader.poll(java.time.Duration.ZERO) == splice.source.Poll.Pending)
    eventually(assert(isFreed(value)))
    reader.close()
  }
}
