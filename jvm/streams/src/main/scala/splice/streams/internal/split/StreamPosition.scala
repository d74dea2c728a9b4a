// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.split

import java.nio.charset.StandardCharsets.UTF_8

import splice.source.Position
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, VersionedJson}

/** Position of a stream: `{"inner":"<offset>","n":17,"v":1}`.
  *
  * @param inner
  *   JSON of the offset as the wrapped stream has written it. Splice never changes a character of this text
  * @param n
  *   number of moves since the start. Offsets of a stream have no order that Splice knows, so this number orders the
  *   positions
  */
final private[streams] case class StreamPosition(inner: String, n: Long) extends Position {

  override def json: String = VersionedJson.write("inner" -> StreamPosition.quoted(inner), "n" -> n.toString)

  override def precedes(later: Position): Boolean = later match {
    case that: StreamPosition => n < that.n || this == that
    case _                    => false
  }

  override def equals(other: Any): Boolean = other match {
    case that: StreamPosition => n == that.n && inner == that.inner
    case _                    => false
  }

  override def hashCode: Int = inner.hashCode * 31 + n.hashCode

  /** Returns the position after a move to an offset. */
  def moved(to: String): StreamPosition = StreamPosition(to, n + 1)

  /** Short text that differs for different positions, for the names of ranges. */
  def name: String = f"$n-${inner.hashCode}%08x"
}

private[streams] object StreamPosition {

  /** @throws splice.source.errors.SpliceException
    *   if a newer version of Splice or another source wrote the text, or if the text is damaged
    */
  def read(json: String): StreamPosition = {
    def corrupt = CheckpointErrors.corrupt(s"The offset '$json'", "the offset is not a JSON object")
    def foreign = CheckpointErrors.foreign(s"The offset '$json'", """{"inner":"<offset>","n":<number>,"v":1}""")
    val node    = Json.readObject(json).getOrElse(throw corrupt)
    VersionedJson.check(node, "The offset")(_ => foreign)
    val read = for {
      inner <- Json.field(node, "inner").filter(_.isTextual)
      n     <- Json.field(node, "n").filter(n => n.isIntegralNumber && n.canConvertToLong && n.asLong >= 0)
    } yield StreamPosition(inner.asText, n.asLong)
    read.getOrElse(throw foreign)
  }

  // A hybrid parses and writes the JSON of a removed leg, so the JSON has the form of the JSON writer. With escapes, a
  // text that is not valid Unicode survives the encoding of Spark's log.
  private def quoted(text: String): String =
    if (UTF_8.newEncoder.canEncode(text)) Json.quoted(text)
    else Json.quoted(text).flatMap(c => if (c > '~') f"\\u${c.toInt}%04x" else c.toString)
}
