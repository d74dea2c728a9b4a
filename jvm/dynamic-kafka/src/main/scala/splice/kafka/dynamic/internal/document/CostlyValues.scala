// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import scala.annotation.tailrec

import org.apache.kafka.common.config.SslConfigs

import splice.kafka.internal.secrets.SecretReferences

/** Rejects values for which Kafka's clients need minutes or exhaust the stack. The regular expressions of the clients
  * need a time that grows with the square or the cube of the length of a gap, and a stack that grows with the number of
  * lines with a colon in a certificate.
  */
private[document] object CostlyValues {

  /** Maximum number of characters of a secret: enough for the certificates of all public authorities. */
  val Longest = 524288

  /** Maximum number of characters of any other property. */
  val Short = 32768

  private val certificates = Set(
    SslConfigs.SSL_KEYSTORE_KEY_CONFIG,
    SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG,
    SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG
  )

  /** Returns the reason why a value is rejected; None if a client parses the value at once. */
  def rejection(key: String, value: String, isSecret: Boolean): Option[String] = {
    val rules =
      if (certificates(key)) Seq(length(Longest), references, gap(16), dashes, blocks)
      else if (isSecret) Seq(length(Longest), references)
      else Seq(length(Short), references, gap(256))
    rules.iterator.flatMap(rule => rule(value)).nextOption()
  }

  private type Rule = String => Option[String]

  private def length(most: Int): Rule = value =>
    Option.when(value.length > most)(s"the value has ${value.length} characters. The maximum is $most")

  private val references: Rule = value =>
    Option.unless(SecretReferences.isClosed(value))(
      s"more than ${SecretReferences.Open} characters follow '$${' without a closing brace, or before another '$${'. " +
        s"Correct the reference, for example $${file:/run/secrets/east:password}, or refer to a file with this value"
    )

  private def gap(most: Int): Rule = {
    val longer = s"\\s{${most + 1}}".r
    value =>
      Option.when(longer.findFirstIn(value).nonEmpty)(
        s"the value has more than $most spaces or line breaks in succession. Remove the spaces"
      )
  }

  private val dashes: Rule = value =>
    Option.when(value.contains("-" * 65))("the value has more than 64 dashes in succession. Remove the dashes")

  private val boundary = """[ \t]*-----(BEGIN|END) ([A-Z0-9 ]{1,64})-----[ \t]*""".r
  private val header   = """[ \t]*[A-Za-z0-9-]{1,64}:[^:]{0,256}""".r
  private val content  = """[A-Za-z0-9+/= \t]*+""".r

  private val Begin = "-BEGIN"

  // A client searches for this text, and ignores lines outside the blocks. A client reads each block of this form
  // without backtracking, because the text occurs at no other place. An encrypted key has two headers.
  private val blocks: Rule = value => {
    @tailrec def areBlocks(lines: List[String]): Boolean = lines.dropWhile(!_.contains(Begin)) match {
      case boundary("BEGIN", label) :: inside =>
        val headers = inside.takeWhile(line => header.matches(line) && !line.contains(Begin)).size
        inside.drop(headers).dropWhile(content.matches) match {
          case boundary("END", `label`) :: rest => headers <= 2 && areBlocks(rest)
          case _                                => false
        }
      case Nil => true
      case _   => false
    }
    Option.unless(areBlocks(value.linesIterator.toList))(
      "a certificate or key is malformed. Write a line with '-----BEGIN <type>-----', at most 2 lines with a header, lines " +
        "with Base64, and a line with '-----END <type>-----' of the same type. In YAML, '|' keeps lines"
    )
  }
}
