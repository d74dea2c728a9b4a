// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import java.io.{Reader, StreamTokenizer, StringReader}
import java.lang.{StringBuilder => JStringBuilder}
import java.util.Locale

import scala.annotation.tailrec

/** The options of a JAAS login line (`sasl.jaas.config`).
  *
  * The syntax is wider than the syntax of Kafka's parser, because a line that Kafka rejects may also contain a secret.
  */
private[splice] object LoginLine {

  // The values `true` and `false` are not secret under any key, such as `tokenauth`.
  private val flags = Set("true", "false")

  /** Keys and values, without quotes and flags. A comment is also read as text, because the checkpoint stores it with
    * the line.
    */
  def options(line: String): Seq[(String, String)] =
    Seq(line, withoutComments(line)).distinct.flatMap(text => entries(new StringReader(text))).distinct

  /** The line with a space instead of each comment. A slash that begins no closed comment begins a comment of one line.
    */
  private[secrets] def withoutComments(line: String): String = {
    // The last end of a comment is searched once, so an open comment does not search the remaining text.
    val last                             = line.lastIndexOf("*/")
    val out                              = new JStringBuilder
    @tailrec def copy(from: Int): String = line.indexOf('/', from) match {
      case -1    => out.append(line, from, line.length).toString
      case start =>
        out.append(line, from, start).append(' ')
        val end =
          if (line.startsWith("/*", start) && start + 2 <= last) line.indexOf("*/", start + 2) + 2
          else Some(line.indexOf('\n', start)).filter(_ >= 0).getOrElse(line.length)
        copy(end)
    }
    copy(0)
  }

  private def entries(text: Reader): Seq[(String, String)] =
    tokens(text).sliding(3).collect {
      case Seq(Word(key), Sign('='), Word(value)) if !flags(value.toLowerCase(Locale.ROOT)) =>
        key -> value
    }.toVector

  private def tokens(text: Reader): Vector[Token] = {
    val in = new StreamTokenizer(text)
    in.resetSyntax()
    in.wordChars('!', 255)
    in.whitespaceChars(0, ' ')
    Seq('"', '\'').foreach(in.quoteChar(_))
    Seq('=', ';').foreach(in.ordinaryChar(_))
    Iterator
      .continually(in.nextToken())
      .takeWhile(_ != StreamTokenizer.TT_EOF)
      .map(kind => Option(in.sval).fold[Token](Sign(kind.toChar))(Word(_)))
      .toVector
  }

  sealed private trait Token
  final private case class Word(text: String) extends Token
  final private case class Sign(char: Char)   extends Token
}
