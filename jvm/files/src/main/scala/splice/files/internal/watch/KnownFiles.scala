// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/** Files that a query has listed, by a hash of their path, with modification time and length. The path itself is not
  * kept, so a file takes at most 48 bytes. Not thread-safe.
  *
  * @param expected
  *   number of files that the caller adds at once
  */
final private[splice] class KnownFiles(expected: Int = 0) {

  import KnownFiles._

  // Open addressing with linear probing. A slot has both halves of the hash, the time and the length.
  private var slots = new Array[Long](capacity(expected) * Width)
  private var count = 0

  def size: Int = count

  /** Memory of all slots, in bytes. */
  def bytes: Long = slots.length * 8L

  /** Compares a listed file with the known file of the same path. Computes no hash before the first file is known. */
  def compare(path: String, modified: Long, length: Long): Comparison =
    if (count == 0) New else compare(SeenFile(path, modified, length))

  /** Compares a listed file with the known file of the same path. */
  def compare(file: SeenFile): Comparison = {
    val at = find(slots, file.high, file.low)
    if (isEmpty(slots, at)) New
    else if (slots(at + 2) == file.modified && slots(at + 3) == file.length) Same
    else Changed(slots(at + 2), slots(at + 3))
  }

  /** True if a file with this path is known. */
  def contains(path: String): Boolean = {
    val file = SeenFile(path, 0, 0)
    !isEmpty(slots, find(slots, file.high, file.low))
  }

  /** Adds a file, or replaces time and length of the known file. */
  def add(file: SeenFile): Unit = {
    if ((count + 1) * Full._2 > slots.length / Width * Full._1) slots = copy(slots.length / Width * 5 / 4)(_ => true)
    val at = find(slots, file.high, file.low)
    if (isEmpty(slots, at)) count += 1
    slots(at) = file.high
    slots(at + 1) = file.low
    slots(at + 2) = file.modified
    slots(at + 3) = file.length
  }

  /** Forgets the files that were modified before a time in milliseconds, and returns their number. */
  def forget(limit: Long): Int = {
    var kept = 0
    var at   = 2
    while (at < slots.length) {
      if (!isEmpty(slots, at - 2) && slots(at) >= limit) kept += 1
      at += Width
    }
    val forgotten = count - kept
    if (forgotten > 0) {
      slots = copy(capacity(kept))(_ >= limit)
      count = kept
    }
    forgotten
  }

  private def copy(capacity: Int)(isKept: Long => Boolean): Array[Long] = {
    val to = new Array[Long](capacity * Width)
    var at = 0
    while (at < slots.length) {
      if (!isEmpty(slots, at) && isKept(slots(at + 2))) System.arraycopy(
        slots,
        at,
        to,
        find(to, slots(at), slots(at + 1)),
        Width
      )
      at += Width
    }
    to
  }
}

private[splice] object KnownFiles {

  private val Width = 4
  private val Least = 16

  // At most 17 of 20 slots are used. After an extension by a quarter, at least 68 % are used: 47 bytes per file.
  private val Full = (17L, 20L)

  /** Slots for a number of files. */
  private def capacity(files: Int): Int = math.max(Least, (files * Full._2 / Full._1 + 1).toInt * 5 / 4)

  /** Result of a comparison. */
  sealed trait Comparison extends Product with Serializable

  case object New  extends Comparison
  case object Same extends Comparison

  /** The file had another modification time or length before. */
  final case class Changed(modified: Long, length: Long) extends Comparison

  /** Slot of a hash, or the empty slot in which the hash belongs. */
  private def find(slots: Array[Long], high: Long, low: Long): Int = {
    var at = ((high & Long.MaxValue) % (slots.length / Width)).toInt * Width
    while (!isEmpty(slots, at) && !(slots(at) == high && slots(at + 1) == low)) {
      at += Width
      if (at == slots.length) at = 0
    }
    at
  }

  private def isEmpty(slots: Array[Long], at: Int): Boolean = slots(at + 1) == 0
}

/** File of a listing.
  *
  * @param high
  *   first half of the hash of the path
  * @param low
  *   second half, never 0
  * @param modified
  *   modification time in milliseconds since 1970
  */
final private[splice] case class SeenFile(high: Long, low: Long, modified: Long, length: Long)

private[splice] object SeenFile {

  private val digests = ThreadLocal.withInitial[MessageDigest](() => MessageDigest.getInstance("SHA-256"))

  def apply(path: String, modified: Long, length: Long): SeenFile = {
    val hash = ByteBuffer.wrap(digests.get.digest(path.getBytes(UTF_8)))
    SeenFile(hash.getLong, hash.getLong | 1L, modified, length)
  }
}
