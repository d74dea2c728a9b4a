// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.util.Arrays

import org.apache.kafka.common.InvalidRecordException

/** Bytes of records in format 2 of Kafka (KIP-98), with a read position. Used by one thread. */
final private[splice] class RecordBytes {

  var array: Array[Byte] = Array.emptyByteArray

  /** The index of the next number or text. */
  var at: Int = 0

  /** The index after the last available byte. */
  var end: Int = 0

  def show(next: Array[Byte], from: Int, until: Int): Unit = {
    array = next
    at = from
    end = until
  }

  /** Decodes a varint: zigzag encoding, seven bits per byte, the least significant bits first. */
  def varint(): Int = {
    val first = array(at)
    at += 1
    if (first >= 0) (first >>> 1) ^ -(first & 1)
    else { val rest = more(first.toLong & 0x7f, 35).toInt; (rest >>> 1) ^ -(rest & 1) }
  }

  /** Decodes a varint of up to 64 bits. */
  def varlong(): Long = {
    val first = array(at)
    at += 1
    val raw = if (first >= 0) first.toLong else more(first.toLong & 0x7f, 70)
    (raw >>> 1) ^ -(raw & 1)
  }

  private def more(first: Long, bits: Int): Long = {
    var raw   = first
    var shift = 7
    var byte  = -1
    while (byte < 0) {
      if (shift >= bits) throw new InvalidRecordException("a number has too many bytes")
      byte = array(at).toInt
      at += 1
      raw |= (byte & 0x7f).toLong << shift
      shift += 7
    }
    raw
  }

  /** Checks a length or a count. A damaged number must not allocate more bytes than the array contains. */
  def known(number: Int, least: Int): Int =
    if (least <= number && number <= array.length - at) number
    else throw new InvalidRecordException(s"a length or a count is $number")

  /** Decodes an array of bytes with its length; None means null. */
  def part(): Option[Array[Byte]] = {
    val length = known(varint(), least = -1)
    Option.when(length >= 0) {
      at += length
      Arrays.copyOfRange(array, at - length, at)
    }
  }

  /** The bytes of the next record and its length. If the length is incomplete, the result exceeds the number of
    * available bytes.
    */
  def needs(): Long = {
    var raw = 0L
    var i   = at
    while (i < end && array(i) < 0 && i < at + 5) {
      raw |= (array(i) & 0x7fL) << (7 * (i - at))
      i += 1
    }
    if (i == end) end - at + 1L
    else {
      raw |= (array(i) & 0x7fL) << (7 * (i - at))
      i + 1L - at + ((raw >>> 1) ^ -(raw & 1))
    }
  }

  /** Moves the available bytes after the read position to the start of the array. */
  def compact(): Unit = {
    System.arraycopy(array, at, array, 0, end - at)
    end -= at
    at = 0
  }
}
