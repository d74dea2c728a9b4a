// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.io.InputStream
import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec
import scala.util.{Try, Using}

import com.fasterxml.jackson.core.{JsonFactory, JsonParser}

import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.source.errors.SpliceException

/** Text of a [[MetadataDocument]], read from a file or an endpoint. */
private[dynamic] object MetadataText {

  /** Maximum number of bytes of a document: enough for 40,000 streams. */
  val Longest: Int = 8 * 1024 * 1024

  /** Maximum number of characters of a line, or of a text in JSON. The parser copies a longer text again for each 1,024
    * characters.
    */
  val Unbroken = 524288

  /** Returns the number of the first longer line; None if there is no such line, or if the text is JSON without a longer
    * text. JSON may be one line.
    */
  def overlong(text: String): Option[Int] = unbroken(text, "\n").filterNot(_ => isShortJson(text))

  // The parser builds no tree, because a tree may need many times the memory of the text.
  def isJson(text: String): Boolean = hasJson(text)(_ => true)

  private def isShortJson(text: String): Boolean =
    hasJson(text)(parser => !parser.currentToken.isScalarValue || parser.getTextLength <= Unbroken) &&
      unbroken(text, "\n\",").isEmpty

  private def hasJson(text: String)(isValid: JsonParser => Boolean): Boolean =
    Try(Using.resource(new JsonFactory().createParser(text)) { parser =>
      val tokens = Iterator.continually(Option(parser.nextToken())).takeWhile(_.nonEmpty).map(_ => isValid(parser))
      tokens.foldLeft((false, true)) { case ((_, all), one) => (true, all && one) } == (true, true)
    }).getOrElse(false)

  private def unbroken(text: String, breaks: String): Option[Int] = {
    @tailrec def search(from: Int, line: Int): Option[Int] =
      if (text.length - from <= Unbroken) None
      else
        text.indexWhere(breaks.contains(_), from) match {
          case end if end < 0 || end - from > Unbroken => Some(line)
          case end                                     => search(end + 1, if (text(end) == '\n') line + 1 else line)
        }
    search(0, 1)
  }

  /** Reads the whole text as UTF-8.
    *
    * @param document
    *   the name of the document in errors
    * @throws splice.source.errors.SpliceException
    *   if the text is longer than [[Longest]]; the remaining bytes are then not read
    */
  def read(document: String, in: InputStream): String = {
    val bytes = in.readNBytes(Longest + 1)
    if (bytes.length > Longest) throw tooLong(document)
    new String(bytes, UTF_8)
  }

  def tooLong(document: String): SpliceException =
    MetadataErrors.invalid(
      document,
      1,
      "",
      s"the document is longer than ${Longest / 1024 / 1024} MiB. Remove unused streams, or split the streams between two queries"
    )
}
