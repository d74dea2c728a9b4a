// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.io.{ByteArrayOutputStream, IOException}
import java.net.URI
import java.net.http.HttpResponse.{BodyHandler, BodySubscriber, BodySubscribers}
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.ByteBuffer
import java.time.Duration
import java.util.concurrent.Flow.Subscription
import java.util.concurrent.{CompletableFuture, CompletionStage, ExecutionException, TimeUnit, TimeoutException}
import java.util.{List => JList}

import scala.jdk.CollectionConverters._

/** Sends GET requests to one address. Only one thread at a time may use an exchange.
  *
  * The JDK's client does not follow a redirect, because the target would receive the headers and could send a different
  * document. The client also compares the length of the body with Content-Length.
  *
  * @param timeout
  *   maximum time from the connection to the last byte of the response
  * @param longest
  *   maximum number of bytes of a document
  * @param tooLong
  *   creates the error for a longer document
  */
final private[splice] class HttpExchange(
    uri: URI,
    timeout: Duration,
    credentials: HttpCredentials,
    longest: Int,
    tooLong: => Throwable
) extends AutoCloseable {

  import HttpExchange._

  private var opened: Option[HttpClient] = None
  private var sent                       = Map.empty[String, String]

  /** Returns the texts that no error may contain, including resolved references. */
  def secrets: Set[String] = credentials.secrets ++ sent.values

  /** Sends a request and returns the response. The body is empty unless the status is 200.
    *
    * @param headers
    *   headers in addition to the headers of the credentials
    */
  def get(headers: Map[String, String]): HttpResponse[Array[Byte]] = {
    val client = opened.getOrElse(open())
    opened = Some(client)
    sent = credentials.resolvedHeaders
    val request = HttpRequest.newBuilder(uri).GET()
    (headers ++ sent).foreach { case (name, value) => request.setHeader(name, value) }
    val response = client.sendAsync(request.build(), documents)
    try response.get(timeout.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case e: ExecutionException => throw e.getCause
      case _: TimeoutException   =>
        throw new IOException(s"no complete response within 'metadata.timeout' = ${timeout.toMillis} ms")
    } finally { val _ = response.cancel(true) }
  }

  /** Discards the client after a failure. The next request then reads the key and trust stores again, because the
    * stores may have changed.
    */
  def renew(): Unit = if (credentials.tls.nonEmpty) close()

  override def close(): Unit = {
    opened.foreach {
      // The client is AutoCloseable since Java 21. An older client ends its thread when it is garbage collected.
      case client: AutoCloseable => client.close()
      case _                     => ()
    }
    opened = None
  }

  private def open(): HttpClient = {
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER)
    credentials.context.foreach(client.sslContext(_))
    client.build()
  }

  private def documents: BodyHandler[Array[Byte]] = response =>
    if (response.statusCode == Ok) new Limited(longest, tooLong) else BodySubscribers.replacing(Array.emptyByteArray)
}

private[splice] object HttpExchange {

  val Ok          = 200
  val NotModified = 304

  /** Collects a body up to a limit. */
  final private class Limited(longest: Int, tooLong: => Throwable) extends BodySubscriber[Array[Byte]] {

    private val bytes        = new ByteArrayOutputStream
    private val body         = new CompletableFuture[Array[Byte]]
    private val subscription = new CompletableFuture[Subscription]

    override def getBody: CompletionStage[Array[Byte]] = body

    override def onSubscribe(to: Subscription): Unit = {
      subscription.complete(to)
      to.request(Long.MaxValue)
    }

    override def onNext(parts: JList[ByteBuffer]): Unit = if (!body.isDone) parts.asScala.foreach { part =>
      if (bytes.size.toLong + part.remaining > longest) {
        subscription.thenAccept(_.cancel())
        body.completeExceptionally(tooLong)
      } else {
        val chunk = new Array[Byte](part.remaining)
        part.get(chunk)
        bytes.write(chunk, 0, chunk.length)
      }
    }

    override def onError(error: Throwable): Unit = { val _ = body.completeExceptionally(error) }

    override def onComplete(): Unit = { val _ = body.complete(bytes.toByteArray) }
  }
}
