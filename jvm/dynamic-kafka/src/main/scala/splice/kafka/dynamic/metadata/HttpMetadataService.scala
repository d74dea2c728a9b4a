// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

import java.io.IOException
import java.net.{HttpURLConnection, URI}
import java.time.Duration

import scala.util.Using

import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.kafka.options.ClientSecrets
import splice.source.{Secrets, SpliceException}

/** Reads a [[MetadataDocument]] from an HTTP endpoint, by GET, and not again while its ETag is the same.
  *
  * @param timeout
  *   of connecting, and of each part of the answer
  * @param headers
  *   sent along, such as `Authorization`
  */
final private[dynamic] class HttpMetadataService(
    uri: URI,
    timeout: Duration,
    headers: Map[String, String],
    rules: DocumentProperties
) extends KafkaMetadataService {

  import HttpMetadataService._

  @volatile private var last: Option[Answer] = None

  override def allStreams(): StreamMetadata = {
    val connection =
      try open()
      catch { case e @ (_: IOException | _: IllegalArgumentException) => throw failed(e) }
    try
      (connection.getResponseCode, last) match {
        case (HttpURLConnection.HTTP_OK, _) =>
          val text  = Using.resource(connection.getInputStream)(MetadataText.read(shown, _))
          val found = MetadataDocument.read(shown, text, rules)
          last = Some(Answer(Option(connection.getHeaderField("ETag")), found))
          found.metadata
        case (HttpURLConnection.HTTP_NOT_MODIFIED, Some(known)) => known.document.metadata
        case (status, _) => throw MetadataErrors.unavailable(toString, s"it answered with status $status")
      }
    catch { case e: IOException => throw failed(e) }
    finally connection.disconnect()
  }

  override def isClusterActive(cluster: String): Boolean = !last.exists(_.document.inactive(cluster))

  override def toString: String = s"the endpoint $shown"

  private def open(): HttpURLConnection = uri.toURL.openConnection() match {
    case connection: HttpURLConnection =>
      val millis = math.min(timeout.toMillis, Int.MaxValue.toLong).toInt
      connection.setConnectTimeout(millis)
      connection.setReadTimeout(millis)
      connection.setUseCaches(false)
      connection.setRequestProperty("Accept", "application/yaml, application/json")
      // A connection that is kept needs a thread that closes it.
      connection.setRequestProperty("Connection", "close")
      headers.foreach { case (name, value) => connection.setRequestProperty(name, value) }
      last.flatMap(_.tag).foreach(connection.setRequestProperty("If-None-Match", _))
      connection
    case other => throw MetadataErrors.unavailable(toString, s"${other.getClass.getSimpleName} is no HTTP connection")
  }

  private def shown: String = Secrets.redact("metadata.url", uri.toString)

  // The JDK's errors may quote the address or a header.
  private def failed(error: Throwable): SpliceException = {
    val secrets           = headers.values ++ Seq(uri.getRawQuery, uri.getRawUserInfo).flatMap(Option(_))
    val texts             = ClientSecrets.chain(error).map(_.toString)
    def hidden(t: String) = Secrets.hide(t.replace(uri.toString, shown), secrets)
    MetadataErrors.unavailable(toString, hidden(error.toString), Option.when(texts.forall(t => hidden(t) == t))(error))
  }
}

private[dynamic] object HttpMetadataService {
  final private case class Answer(tag: Option[String], document: MetadataDocument)
}
