// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.nio.file.Paths

import scala.util.Try

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.clients.consumer.ConsumerConfig
import org.apache.kafka.common.config.provider.{DirectoryConfigProvider, EnvVarConfigProvider, FileConfigProvider}
import org.apache.kafka.common.config.{SaslConfigs, SslConfigs}

import splice.kafka.dynamic.internal.options.DynamicOptions
import splice.kafka.internal.options.{ClientProperties, KafkaOptions}
import splice.kafka.internal.secrets.SecretReferences

/** Decides which properties of the Kafka client a metadata document may set for a cluster.
  *
  * Properties make clients load classes, read files and environment variables, and send requests. By default, the
  * author of a document gets none of these rights. The document may set only the properties of an allow-list, as in
  * KIP-1188. References may only read sources that the query's options allow. Only the query's options may set all
  * other properties.
  *
  * @param any
  *   true if a document may set each property that the query may set
  * @param secrets
  *   rejects literal secrets
  * @param query
  *   returns the client properties that the query's options set for a cluster
  */
final private[dynamic] class DocumentProperties(
    any: Boolean,
    secrets: LiteralSecrets,
    query: String => Map[String, String]
) {

  import DocumentProperties._

  /** Returns the reason why a property of a cluster is rejected; None if the property is allowed.
    *
    * @param properties
    *   all properties that the metadata sets for the cluster
    */
  def rejection(cluster: String, properties: Map[String, String], key: String): Option[String] = {
    val value                               = properties(key)
    def limit(rejection: => Option[String]) = if (any) None else rejection
    ClientProperties
      .rejection(key, value)
      .orElse(limit(unlisted(cluster, key)))
      .orElse(limit(CostlyValues.rejection(key, value, secret(key))))
      .orElse(limit(unallowed(query(cluster), key, value)))
      .orElse(secrets.rejection(cluster, properties, key))
      .orElse(limit(
        if (key == SaslConfigs.SASL_JAAS_CONFIG) LoginModules.rejection(cluster, query(cluster), value) else None
      ))
  }
}

private[dynamic] object DocumentProperties {

  /** Properties that may contain references to secrets. */
  private val secret = Set(
    SaslConfigs.SASL_JAAS_CONFIG,
    SslConfigs.SSL_KEYSTORE_PASSWORD_CONFIG,
    SslConfigs.SSL_KEYSTORE_KEY_CONFIG,
    SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG,
    SslConfigs.SSL_KEY_PASSWORD_CONFIG,
    SslConfigs.SSL_TRUSTSTORE_PASSWORD_CONFIG,
    SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG
  )

  /** Properties that a document may set. */
  val Allowed: Set[String] = secret ++ Set(
    CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG,
    CommonClientConfigs.SECURITY_PROTOCOL_CONFIG,
    CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG,
    CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
    CommonClientConfigs.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG,
    CommonClientConfigs.SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS_CONFIG,
    CommonClientConfigs.CONNECTIONS_MAX_IDLE_MS_CONFIG,
    CommonClientConfigs.CLIENT_RACK_CONFIG,
    ConsumerConfig.ISOLATION_LEVEL_CONFIG,
    SaslConfigs.SASL_MECHANISM,
    SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG,
    SslConfigs.SSL_KEYSTORE_TYPE_CONFIG,
    SslConfigs.SSL_TRUSTSTORE_LOCATION_CONFIG,
    SslConfigs.SSL_TRUSTSTORE_TYPE_CONFIG
  )

  private def option(key: String): String = s"'${KafkaOptions.ClientPrefix}${YamlNode.shown(key)}'"

  // The name must match exactly, because clients accept other spellings of other properties.
  private def unlisted(cluster: String, key: String): Option[String] = Option.unless(Allowed(key))(
    s"metadata may not set this property. Set ${option(key)} or 'cluster.$cluster.${KafkaOptions.ClientPrefix}${YamlNode.shown(key)}' in the options of the " +
      s"query. If the author of the metadata may have the rights of this job, set '${DynamicOptions.MetadataProperties.key}' to 'any'. " +
      s"Metadata may set ${Allowed.toSeq.sorted.mkString(", ")}"
  )

  /** Returns the reason why a text must not contain its references; None if all references are allowed. A client
    * resolves references in all its properties.
    */
  private def unallowed(query: Map[String, String], key: String, value: String): Option[String] = {
    val references = SecretReferences.all(value)
    if (references.nonEmpty && !secret(key))
      Some(
        s"the value may not contain a reference. Metadata may contain references in ${secret.toSeq.sorted.mkString(", ")}"
      )
    else references.flatMap(unallowed(query, _)).headOption
  }

  private def unallowed(query: Map[String, String], reference: SecretReferences.Reference): Option[String] = {
    val provider         = s"${SecretReferences.Providers}.${reference.provider}"
    def rule(of: String) = s"$provider.param.$of"
    query.get(s"$provider.class").map(_.trim).flatMap {
      case name if Files(name) =>
        val allowed = query.get(rule("allowed.paths")).toSeq.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)
        Option.unless(allowed.exists(isWithin(reference.path, _)))(
          s"the value refers to '${reference.path}', which the query does not allow. Set ${option(rule("allowed.paths"))} to the folders that " +
            "metadata may refer to"
        )
      case name if name == classOf[EnvVarConfigProvider].getName =>
        val allowed = query.get(rule("allowlist.pattern"))
        Option.unless(allowed.exists(pattern => Try(reference.key.matches(pattern)).getOrElse(false)))(
          s"the value refers to the environment variable '${reference.key}', which the query does not allow. Set " +
            s"${option(rule("allowlist.pattern"))} to the variables that metadata may refer to"
        )
      case _ => None
    }
  }

  private val Files = Set(classOf[FileConfigProvider].getName, classOf[DirectoryConfigProvider].getName)

  // The same check as in Kafka's AllowedPaths.
  private def isWithin(path: String, folder: String): Boolean =
    Try(Paths.get(path).normalize.startsWith(Paths.get(folder).normalize)).getOrElse(false)
}
