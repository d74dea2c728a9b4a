// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import java.net.URI

import splice.source.errors.OptionErrors
import splice.source.internal.Secrets
import splice.source.options.{OptionType, SourceOption, SourceOptions}

/** Connection options of the metadata service `http`. */
private[dynamic] object HttpOptions {

  val AllowPlainHttp: SourceOption[Boolean] = SourceOption(
    "metadata.allowPlainHttp",
    OptionType.Bool,
    "If 'true', 'metadata.url' may use http with a host other than 'localhost', '127.0.0.0/8' and '::1'. " +
      "Such a connection is not encrypted. An attacker can then replace the document, which specifies the " +
      "servers that receive the credentials of the query."
  ).withDefault(false, "false")

  private val Store = OptionType[String]("the path of a local file of the driver", t => Some(t.trim).filter(_.nonEmpty))

  private val Type = OptionType.choice("JKS" -> "JKS", "PKCS12" -> "PKCS12", "PEM" -> "PEM")

  private val Password =
    OptionType[String](s"a string, or a reference such as $${file:/run/secrets/http:store}", Some(_))

  /** TLS options. A key without [[Prefix]] is the property name of the Kafka client. */
  val tls: Seq[SourceOption[String]] = Seq(
    SourceOption(
      "metadata.ssl.truststore.location",
      Store,
      "Trust store with the certificates that Splice trusts for the server of 'metadata.url'. Default: the " +
        "certificates that the JVM trusts."
    ),
    SourceOption(
      "metadata.ssl.truststore.password",
      Password,
      "Password of the trust store. A PEM file has no password."
    ),
    SourceOption("metadata.ssl.truststore.type", Type, "Format of the trust store.").withDefault("JKS", "JKS"),
    SourceOption(
      "metadata.ssl.keystore.location",
      Store,
      "Key store with the certificate that the driver presents to the server of 'metadata.url'. Default: the " +
        "driver presents no certificate."
    ),
    SourceOption("metadata.ssl.keystore.password", Password, "Password of the key store. A PEM file has no password."),
    SourceOption("metadata.ssl.keystore.type", Type, "Format of the key store.").withDefault("JKS", "JKS"),
    SourceOption("metadata.ssl.key.password", Password, "Password of the private key in the key store.")
  )

  val all: Seq[SourceOption[_]] = AllowPlainHttp +: tls

  /** Prefix of the options in [[tls]]. */
  val Prefix = "metadata."

  /** Returns the TLS properties that are set, by the property names of Kafka clients. */
  def tlsOf(options: SourceOptions): Map[String, String] =
    tls.flatMap(o => options.find(o).map(o.key.stripPrefix(Prefix) -> _)).toMap

  /** Checks the connection options.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if the connection would not be encrypted, or a TLS option is not valid
    */
  def check(options: SourceOptions): Unit = {
    val _ = tlsOf(options)
    options.find(DynamicOptions.MetadataUrl).filterNot(isProtected).foreach { uri =>
      if (!options(AllowPlainHttp)) throw OptionErrors.invalidValue(
        options.name(DynamicOptions.MetadataUrl.key),
        Secrets.redact(DynamicOptions.MetadataUrl.key, uri.toString),
        "an https address, or http on this machine: localhost, 127.0.0.0/8 or ::1",
        "Without TLS, other users of the network can read and replace the document. To accept this risk, set " +
          s"'${options.name(AllowPlainHttp.key)}' to 'true'"
      )
    }
  }

  // Names are not resolved, because DNS may return another address at the time of the request.
  private def isProtected(uri: URI): Boolean =
    uri.getScheme.equalsIgnoreCase("https") || Loopback.matches(uri.getHost)

  private val Loopback = "(?i)localhost|127(?:\\.\\d{1,3}){3}|\\[(?:::1|0:0:0:0:0:0:0:1)\\]".r
}
