// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import java.lang.{StringBuilder => JStringBuilder}

import scala.annotation.tailrec

/** References such as `${file:/run/secrets/kafka:password}` in the properties of a client.
  *
  * Kafka resolves references to configured ConfigProviders. Every other text is unchanged, so a reference to another
  * provider is a literal.
  */
final private[splice] class SecretReferences(properties: Map[String, String]) {

  import SecretReferences._

  private val providers: Set[String] = properties
    .get(Providers)
    .toSeq
    .flatMap(_.split(','))
    .map(_.trim)
    .filter(name => properties.get(s"$Providers.$name.class").exists(_.trim.nonEmpty))
    .toSet

  /** True if the whole text is one reference. */
  def isReference(value: String): Boolean = {
    val text = value.trim
    found(text).headOption.exists(one => one.start == 0 && one.end == text.length && isConfigured(one))
  }

  /** The text with `word` instead of each reference. */
  def replaced(text: String, word: String): String = {
    val (done, last) = found(text).filter(isConfigured).foldLeft((new JStringBuilder, 0)) { case ((out, from), one) =>
      (out.append(text, from, one.start).append(word), one.end)
    }
    done.append(text, last, text.length).toString
  }

  /** The references in the text that Kafka replaces, without duplicates. */
  def configured(text: String): Seq[String] =
    found(text).filter(one => providers(one.reference.provider)).map(one => text.slice(one.start, one.end)).distinct

  /** The providers in the text that are not configured. */
  def unconfigured(text: String): Seq[String] =
    found(text).map(_.reference).filter(one => !one.isEmpty && isName(one.provider) && !providers(one.provider))
      .map(_.provider).distinct

  private def isConfigured(one: Found): Boolean = providers(one.reference.provider) && !one.reference.isEmpty
}

private[splice] object SecretReferences {

  /** The property with the names of the providers. The property is also the prefix of the properties of a provider. */
  val Providers = "config.providers"

  private val Start = "${"

  /** @param path empty if the reference has no path */
  final case class Reference(provider: String, path: String, key: String) {
    private[SecretReferences] def isEmpty: Boolean = path.isEmpty && key.isEmpty
  }

  /** @param end index after the closing brace */
  final private[secrets] case class Found(start: Int, end: Int, reference: Reference)

  private def isName(provider: String): Boolean = provider.nonEmpty && !provider.exists(_.isWhitespace)

  // The same references as in Kafka's ConfigTransformer, in a time that is proportional to the length of the text. The
  // name of a provider may contain spaces.
  private[secrets] def found(text: String): Seq[Found] = {
    // `known` is the first colon after an earlier start, because a search per start may read the same text repeatedly.
    @tailrec def search(from: Int, known: Int, before: Vector[Found]): Vector[Found] = {
      val start = text.indexOf(Start, from)
      val end   = if (start < 0) -1 else text.indexOf('}', start)
      val colon = if (end < 0 || known > start) known else text.indexOf(':', start)
      if (end < 0 || colon < 0) before
      else if (colon > end) search(end + 1, colon, before)
      else search(end + 1, colon, before :+ Found(start, end + 1, reference(text, start + Start.length, colon, end)))
    }
    search(0, 0, Vector.empty)
  }

  private def reference(text: String, start: Int, colon: Int, end: Int): Reference = {
    val inner = text.substring(colon + 1, end)
    inner.indexOf(':') match {
      case -1    => Reference(text.substring(start, colon), "", inner)
      case split => Reference(text.substring(start, colon), inner.take(split), inner.drop(split + 1))
    }
  }
}
