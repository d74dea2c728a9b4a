// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.common.config.SaslConfigs

import splice.kafka.dynamic.internal.options.{Credentials, DynamicOptions}
import splice.kafka.internal.options.{ClientProperties, KafkaOptions}
import splice.kafka.internal.secrets.{LoginLine, SecretReferences}
import splice.source.internal.Secrets
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** Decides which properties of the Kafka client, and which credentials, metadata may set for a cluster.
  *
  * Properties make clients load classes, read files and environment variables, and send requests. By default, the
  * author of the metadata gets none of these rights: the metadata contains addresses, and the name of credentials that
  * the query's options define. No metadata may contain a literal secret, because the checkpoint stores metadata.
  *
  * @param any
  *   true if metadata may set each property that the query may set
  * @param options
  *   the options of the query
  */
final private[dynamic] class DocumentProperties(any: Boolean, options: SourceOptions) {

  import DocumentProperties._

  /** Returns the reason why a property of a cluster is rejected; None if the property is allowed.
    *
    * @param properties
    *   all properties that the metadata sets for the cluster
    */
  def rejection(cluster: String, properties: Map[String, String], key: String): Option[String] = {
    val value = properties(key)
    ClientProperties.rejection(key, value)
      .orElse(if (any) None else if (key == Servers) address(value) else Some(unlisted(cluster, key)))
      .orElse(literal(cluster, properties, key))
  }

  /** Returns the reason why the name of credentials is rejected; None if the query's options define the credentials. The
    * reason does not contain the name, which may be a secret at the wrong place.
    */
  def rejection(credentials: String): Option[String] = {
    val names = Credentials.names(options)
    Option.unless(names.exists(fold(_) == fold(credentials)))(
      s"the options of the query define no credentials of this name. Set '${Credentials.Prefix}<name>." +
        s"${KafkaOptions.ClientPrefix}<property>'" +
        (if (names.isEmpty) "" else s", or use one of these names: ${names.mkString(", ")}")
    )
  }

  private def unlisted(cluster: String, key: String): String = {
    val property = s"${KafkaOptions.ClientPrefix}${YamlNode.shown(key)}"
    s"metadata may not set this property. Set '${Credentials.Prefix}<name>.$property' in the options of the query, and " +
      s"'credentials: <name>' in the metadata, or set '$property' or 'cluster.$cluster.$property' in the options. If " +
      s"the author of the metadata may have the rights of this job, set '${DynamicOptions.MetadataProperties.key}' to 'any'"
  }

  private def literal(cluster: String, properties: Map[String, String], key: String): Option[String] = {
    val query      = Seq(options, options.scope(s"${DynamicOptions.ClusterPrefix}$cluster")).map(ClientProperties.among)
    val references = new SecretReferences(query.reduce(_ ++ _) ++ properties)
    val value      = properties(key)
    Option.when(isLiteral(references, key, value)) {
      val unknown = references.unconfigured(value).map(name =>
        s". No provider '$name' is configured: set 'kafka.config.providers' and 'kafka.config.providers.$name.class'"
      )
      "the value contains a literal secret. Use credentials of the query's options, or a reference such as " +
        s"$${file:/run/secrets/kafka:password}${unknown.mkString}"
    }
  }
}

private[dynamic] object DocumentProperties {

  val Servers: String = CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG

  /** Maximum number of characters of one address. */
  val LongestAddress = 512

  // Kafka's client resolves references in addresses, and needs a time that grows with the square of the length of an
  // address or of a gap.
  private def address(servers: String): Option[String] =
    servers.split(',').map(_.trim).find(one =>
      one.length > LongestAddress || one.contains("${") || one.exists(_.isWhitespace)
    ).map(_ =>
      s"an address has more than $LongestAddress characters, a space or a reference. Write addresses such as " +
        "east-1:9092,east-2:9092"
    )

  // A private-use character is not part of a secret. The parser of JAAS lines reads this character as part of a word.
  private val Reference = "\uE000"

  private def isLiteral(references: SecretReferences, key: String, value: String): Boolean =
    if (references.isReference(value)) false
    else {
      val text = references.replaced(value, Reference)
      if (fold(key).endsWith(SaslConfigs.SASL_JAAS_CONFIG))
        references.unconfigured(value).nonEmpty || LoginLine.options(text).exists { case (name, of) =>
          Secrets.isSecret(name) && of != Reference
        }
      else Secrets.isSecret(key) || Secrets.redact(key, text) != text
    }
}
