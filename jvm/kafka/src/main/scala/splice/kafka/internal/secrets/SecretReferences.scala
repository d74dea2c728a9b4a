// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import scala.util.matching.Regex

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
  def isReference(value: String): Boolean = value.trim match {
    case reference(provider) => providers(provider)
    case _                   => false
  }

  /** The text with `word` instead of each reference. */
  def replaced(text: String, word: String): String =
    reference.replaceAllIn(text, m => Regex.quoteReplacement(if (providers(m.group(1))) word else m.matched))

  /** The references in the text that Kafka replaces, without duplicates. */
  def configured(text: String): Seq[String] =
    any.findAllMatchIn(text).filter(m => providers(m.group(1))).map(_.matched).toSeq.distinct

  /** The providers in the text that are not configured. */
  def unconfigured(text: String): Seq[String] =
    reference.findAllMatchIn(text).map(_.group(1)).filterNot(providers).toSeq.distinct
}

private[splice] object SecretReferences {

  /** The property with the names of the providers. The property is also the prefix of the properties of a provider. */
  val Providers = "config.providers"

  private val reference = "\\$\\{([^}:\\s]+):[^}]+\\}".r

  // Like Kafka, this pattern also accepts spaces in the name of a provider.
  private val any = "\\$\\{([^}]*?):(([^}]*?):)?([^}]*?)\\}".r

  /** @param path empty if the reference has no path */
  final case class Reference(provider: String, path: String, key: String)

  /** All references of a text, to configured providers and to other providers. */
  def all(text: String): Seq[Reference] =
    any.findAllMatchIn(text).map(m => Reference(m.group(1), Option(m.group(3)).getOrElse(""), m.group(4))).toSeq
}
