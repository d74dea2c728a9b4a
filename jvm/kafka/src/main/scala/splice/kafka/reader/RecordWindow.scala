// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.util.Arrays

import org.apache.kafka.clients.consumer.ConsumerRecord

/** The records of a chunk that belong to its range. An array, since a reader of rows looks at each record several times. */
final private[reader] class RecordWindow {

  private var all   = Array.empty[ConsumerRecord[Array[Byte], Array[Byte]]]
  private var last  = 0
  private var ended = 0

  private var filled = 0
  private var size   = 0L

  /** The records, from the first one to [[until]]; valid until the next call of [[clear]]. */
  def records: Array[ConsumerRecord[Array[Byte], Array[Byte]]] = all

  def until: Int = last

  def isEmpty: Boolean = last == 0

  def rows: Long = last.toLong

  /** The bytes of keys and values. */
  def bytes: Long = size

  /** The timestamp of the last record; there must be one. */
  def lastMillis: Long = all(last - 1).timestamp

  /** Keeps no record in memory, also for those who hold the array. */
  def clear(): Unit = {
    Arrays.fill(all.asInstanceOf[Array[Object]], 0, filled, null)
    filled = 0
    ended = 0
    last = 0
  }

  /** The index in the chunk after its last record within the range. */
  def taken: Int = ended

  def show(chunk: Chunk): Unit = {
    all = chunk.records.toArray(all)
    filled = chunk.records.size
    ended = end(filled, chunk.range.until)
    last = chunk.range.holes.fold(ended)(compacted)
    size = 0L
    var i = 0
    while (i < last) {
      size += math.max(all(i).serializedKeySize, 0) + math.max(all(i).serializedValueSize, 0)
      i += 1
    }
  }

  /** The index after the last record before `offset`. A chunk ends beyond its range once in a range. */
  private def end(size: Int, offset: Long): Int = {
    var i = size
    while (i > 0 && all(i - 1).offset >= offset) i -= 1
    i
  }

  /** Moves the records that are to be read to the front of the array; the index after the last one. */
  private def compacted(holes: OpenHoles): Int = {
    var to = 0
    var i  = 0
    while (i < ended) {
      if (holes.contains(all(i).offset)) {
        all(to) = all(i)
        to += 1
      }
      i += 1
    }
    to
  }
}
