// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.HexFormat

import splice.source.log.LogRecord

/** Key of a record for comparison and display. The checkpoint has one key per partition, so a long key is reduced to
  * its first bytes and a digest.
  *
  * @param size
  *   number of bytes; -1 if the record has no key
  * @param head
  *   first bytes as hexadecimal digits
  * @param digest
  *   SHA-256 digest of a long key as hexadecimal digits; empty for a short key
  */
final private[splice] case class RecordKey(size: Int, head: String, digest: String) {

  /** Text of the key if it is valid UTF-8, else hexadecimal digits. A long key is truncated. */
  override def toString: String =
    if (size < 0) "null"
    else {
      val shown = HexFormat.of().parseHex(head).take(RecordKey.Shown)
      val text  = RecordKey.text(shown).fold(s"0x${HexFormat.of().formatHex(shown)}")(text => s"'$text'")
      if (size > shown.length) s"$text... ($size bytes)" else text
    }
}

private[splice] object RecordKey {

  private val Kept  = 64
  private val Shown = 32

  /** Value for a record without a key. */
  val Absent: RecordKey = RecordKey(-1, "", "")

  /** Creates a key from the first `size` bytes of an array. */
  def of(bytes: Array[Byte], size: Int): RecordKey = {
    val digest = MessageDigest.getInstance("SHA-256")
    digest.update(bytes, 0, size)
    val hex = HexFormat.of()
    RecordKey(
      size,
      hex.formatHex(bytes, 0, math.min(size, Kept)),
      if (size > Kept) hex.formatHex(digest.digest()) else ""
    )
  }

  def of(record: LogRecord): RecordKey = record.key.fold(Absent)(key => of(key.toArray, key.size))

  private def text(bytes: Array[Byte]): Option[String] =
    try Some(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString).filterNot(_.exists(_.isControl))
    catch { case _: CharacterCodingException => None }
}
