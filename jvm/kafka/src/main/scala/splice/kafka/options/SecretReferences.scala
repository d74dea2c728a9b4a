// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import scala.util.matching.Regex

/** References such as `${file:/run/secrets/kafka:password}` in a client's properties. Kafka resolves those of configured
  * ConfigProviders and uses every other text unchanged, so a reference to another provider is a literal.
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

  /** Whether the whole text is one reference. */
  def isReference(value: String): Boolean = value.trim match {
    case reference(provider) => providers(provider)
    case _                   => false
  }

  /** The text with `word` in place of each reference. */
  def replaced(text: String, word: String): String =
    reference.replaceAllIn(text, m => Regex.quoteReplacement(if (providers(m.group(1))) word else m.matched))

  /** The providers that the text names and that are not configured. */
  def unconfigured(text: String): Seq[String] =
    reference.findAllMatchIn(text).map(_.group(1)).filterNot(providers).toSeq.distinct
}

private[splice] object SecretReferences {

  /** The property that names the providers, and the start of the names of theirs. */
  val Providers = "config.providers"

  private val reference = "\\$\\{([^}:\\s]+):[^}]+\\}".r

  // As Kafka finds references. It also accepts spaces in the name of a provider.
  private val any = "\\$\\{([^}]*?):(([^}]*?):)?([^}]*?)\\}".r

  /** @param path empty if the reference has none */
  final case class Reference(provider: String, path: String, key: String)

  /** All references of a text, to configured providers and to others. */
  def all(text: String): Seq[Reference] =
    any.findAllMatchIn(text).map(m => Reference(m.group(1), Option(m.group(3)).getOrElse(""), m.group(4))).toSeq
}
