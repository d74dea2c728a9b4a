// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import javax.net.ssl.SSLContext

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.config.types.Password
import org.apache.kafka.common.config.{AbstractConfig, ConfigDef}
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory

/** Headers and TLS properties of the metadata service `http`.
  *
  * The ConfigProviders of the query resolve references in the headers and properties. Each request resolves the headers
  * again, and each new client resolves the TLS properties again, so Splice uses rotated secrets.
  *
  * @param headers
  *   headers of each request
  * @param tls
  *   `ssl.*` properties as for Kafka clients; empty = the trust and key stores of the JVM
  * @param providers
  *   `config.providers*` properties of the query
  */
final private[dynamic] case class HttpCredentials(
    headers: Map[String, String],
    tls: Map[String, String] = Map.empty,
    providers: Map[String, String] = Map.empty
) {

  def resolvedHeaders: Map[String, String] = {
    val all = config(new ConfigDef, headers).originals.asScala
    headers.keys.map(name => name -> all(name).toString).toMap
  }

  /** Creates the TLS context; None = the context of the JVM. */
  def context: Option[SSLContext] = Option.when(tls.nonEmpty) {
    val factory = new DefaultSslEngineFactory
    factory.configure(config(new ConfigDef().withClientSslSupport(), tls).values)
    factory.sslContext()
  }

  /** Returns texts that no error may contain. */
  def secrets: Set[String] = headers.values.toSet ++ tls.collect { case (key, value) if isPassword(key) => value }

  private def isPassword(key: String): Boolean = key.endsWith(".password")

  private def config(definition: ConfigDef, properties: Map[String, String]): AbstractConfig =
    new AbstractConfig(definition, (properties ++ providers).asJava, false)

  override def toString: String =
    s"HttpCredentials(${(headers.keySet ++ tls.keySet).mkString(", ")}, ${Password.HIDDEN})"
}
