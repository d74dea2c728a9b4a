// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration

import scala.jdk.OptionConverters._
import scala.util.control.NonFatal

import splice.kafka.dynamic.internal.document.{DocumentProperties, MetadataDocument, MetadataText}
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.internal.options.{DynamicOptions, HttpOptions}
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.kafka.internal.options.ClientProperties
import splice.kafka.internal.secrets.{ClientSecrets, SecretReferences}
import splice.source.errors.SpliceException
import splice.source.internal.Secrets
import splice.source.options.SourceOptions

/** Reads a [[MetadataDocument]] from an HTTP endpoint by GET. If the ETag is unchanged, the endpoint does not send the
  * document again.
  *
  * A redirect is an error ([[HttpExchange]]).
  *
  * @param timeout
  *   maximum time of the whole response, including the connection
  * @param credentials
  *   headers such as `Authorization`, key and trust stores
  */
final private[dynamic] class HttpMetadataService(
    uri: URI,
    timeout: Duration,
    credentials: HttpCredentials,
    rules: DocumentProperties
) extends KafkaMetadataService {

  import HttpMetadataService._

  @volatile private var last: Option[Response] = None

  private val exchange = new HttpExchange(uri, timeout, credentials, MetadataText.Longest, MetadataText.tooLong(shown))

  override def allStreams(): StreamMetadata =
    try {
      val response = exchange.get(Accept ++ last.flatMap(_.tag).map("If-None-Match" -> _))
      (response.statusCode, last) match {
        case (HttpExchange.Ok, _) =>
          val metadata = MetadataDocument.read(shown, new String(response.body, UTF_8), rules)
          last = Some(Response(response.headers.firstValue("ETag").toScala, metadata))
          metadata
        case (HttpExchange.NotModified, Some(known)) => known.metadata
        case (status, _)                             =>
          val target = response.headers.firstValue("Location").toScala.filter(_ => Redirects(status))
          throw MetadataErrors.unavailable(toString, s"the response has status $status${target.fold("")(redirected)}")
      }
    } catch {
      case e: SpliceException      => throw renewed(e)
      case e: InterruptedException => throw e
      case NonFatal(e)             => throw renewed(failed(e))
    }

  override def close(): Unit = exchange.close()

  override def toString: String = s"the endpoint $shown"

  private def shown: String = Secrets.redact(Url, uri.toString)

  private def redirected(target: String): String =
    s", a redirect to ${Secrets.redact(Url, target)}. Splice follows no redirect. " +
      s"Set '$Url' to the address of the document"

  private def renewed(error: SpliceException): SpliceException = {
    exchange.renew()
    error
  }

  // Errors of the JDK may contain the address or a header.
  private def failed(error: Throwable): SpliceException = {
    val secrets           = exchange.secrets ++ Seq(uri.getRawQuery, uri.getRawUserInfo).flatMap(Option(_))
    val texts             = ClientSecrets.chain(error).map(_.toString)
    def hidden(t: String) = Secrets.hide(t.replace(uri.toString, shown), secrets)
    MetadataErrors.unavailable(
      toString,
      hidden(ClientSecrets.reason(error)),
      Option.when(texts.forall(t => hidden(t) == t))(error)
    )
  }
}

private[dynamic] object HttpMetadataService {

  private val Url = DynamicOptions.MetadataUrl.key

  private val Accept = Map("Accept" -> "application/yaml, application/json")

  private val Redirects = Set(301, 302, 303, 307, 308)

  final private case class Response(tag: Option[String], metadata: StreamMetadata)

  /** Creates the service of a query without sending a request. */
  def apply(options: SourceOptions, rules: DocumentProperties): HttpMetadataService = new HttpMetadataService(
    options(DynamicOptions.MetadataUrl),
    options(DynamicOptions.MetadataTimeout),
    HttpCredentials(
      options.scope("metadata").scope("header").toMap,
      HttpOptions.tlsOf(options),
      ClientProperties.among(options).filter { case (key, _) => key.startsWith(SecretReferences.Providers) }
    ),
    rules
  )
}
