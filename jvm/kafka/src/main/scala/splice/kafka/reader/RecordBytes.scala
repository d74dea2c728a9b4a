// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.util.Arrays

import org.apache.kafka.common.InvalidRecordException

/** Bytes of records in format 2 of Kafka (KIP-98), and a place in them. Used by one thread. */
final private[reader] class RecordBytes {

  var array: Array[Byte] = Array.emptyByteArray

  /** Where the next number or text begins. */
  var at: Int = 0

  /** Where the bytes end that are known. */
  var end: Int = 0

  def show(next: Array[Byte], from: Int, until: Int): Unit = {
    array = next
    at = from
    end = until
  }

  /** A number of the format: seven bits a byte, the least first; a positive and a negative one in turns. */
  def varint(): Int = {
    val first = array(at)
    at += 1
    if (first >= 0) (first >>> 1) ^ -(first & 1)
    else { val rest = more(first.toLong & 0x7f, 35).toInt; (rest >>> 1) ^ -(rest & 1) }
  }

  /** The same, of 64 bits. */
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
      if (shift >= bits) throw new InvalidRecordException("a number that does not end")
      byte = array(at).toInt
      at += 1
      raw |= (byte & 0x7f).toLong << shift
      shift += 7
    }
    raw
  }

  /** A length or a count. A damaged one must not allocate more than the array holds. */
  def known(number: Int, least: Int): Int =
    if (least <= number && number <= array.length - at) number
    else throw new InvalidRecordException(s"a length or a count of $number")

  /** A text with its length; None is null. */
  def part(): Option[Array[Byte]] = {
    val length = known(varint(), least = -1)
    Option.when(length >= 0) {
      at += length
      Arrays.copyOfRange(array, at - length, at)
    }
  }

  /** The bytes of the next record and its length; more than are known if the length is not known yet. */
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

  /** Moves the known bytes after the place to the front of the array. */
  def compact(): Unit = {
    System.arraycopy(array, at, array, 0, end - at)
    end -= at
    at = 0
  }
}
