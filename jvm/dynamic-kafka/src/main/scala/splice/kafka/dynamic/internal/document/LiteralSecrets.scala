// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.util.Locale

import org.apache.kafka.common.config.SaslConfigs

import splice.kafka.internal.secrets.{LoginLine, SecretReferences}
import splice.source.internal.Secrets

/** Rejects literal secrets in metadata, because the checkpoint stores metadata.
  *
  * @param allowed
  *   true if metadata may contain literal secrets
  * @param query
  *   returns the client properties that the query's options set for a cluster, which may configure ConfigProviders
  */
final private[dynamic] class LiteralSecrets(allowed: Boolean, query: String => Map[String, String]) {

  import LiteralSecrets._

  /** Returns the reason why a property of a cluster is rejected; None if it is allowed.
    *
    * @param properties
    *   all properties that the metadata sets for the cluster
    */
  def refusal(cluster: String, properties: Map[String, String], key: String): Option[String] = {
    val references = new SecretReferences(query(cluster) ++ properties)
    val value      = properties(key)
    Option.when(!allowed && isLiteral(references, key, value)) {
      val unknown = references.unconfigured(value).map(name =>
        s". No provider '$name' is configured: set 'kafka.config.providers' and 'kafka.config.providers.$name.class'"
      )
      s"it contains a literal secret. Use a reference such as $${file:/run/secrets/kafka:password}, or set " +
        s"'allowLiteralSecrets' to true${unknown.mkString}"
    }
  }
}

private[dynamic] object LiteralSecrets {

  // A private-use character is not part of a secret. The parser of JAAS lines reads it as part of a word.
  private val Reference = "\uE000"

  private def isLiteral(references: SecretReferences, key: String, value: String): Boolean =
    if (references.isReference(value)) false
    else {
      val text = references.replaced(value, Reference)
      if (key.toLowerCase(Locale.ROOT).endsWith(SaslConfigs.SASL_JAAS_CONFIG))
        references.unconfigured(value).nonEmpty || LoginLine.options(text).exists { case (name, of) =>
          Secrets.isSecret(name) && of != Reference
        }
      else Secrets.isSecret(key) || Secrets.redact(key, text) != text
    }
}
