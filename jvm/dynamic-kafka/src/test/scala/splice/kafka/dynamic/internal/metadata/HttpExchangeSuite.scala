// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.io.OutputStream
import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import com.sun.net.httpserver.{HttpExchange => Exchange, HttpServer}
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.document.DocumentProperties
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions
import splice.testkit.internal.Patient

/** Tests of servers that redirect, are slow, or send too little or too much data. */
final class HttpExchangeSuite extends AnyFunSuite {

  private val document =
    "version: 1\ngeneration: 1\nclusters: {a: {bootstrapServers: \"a:9092\"}}\nstreams: {s: {a: [t]}}\n"

  private val rules =
    new DocumentProperties(any = false, SourceOptions(Map.empty))

  private def service(uri: String, timeout: Duration = Patient.Limit): HttpMetadataService =
    new HttpMetadataService(URI.create(uri), timeout, HttpCredentials(Map("X-Api-Key" -> "hunter2")), rules)

  private def read(service: HttpMetadataService): StreamMetadata =
    try service.allStreams()
    finally service.close()

  private def rejected(
      service: HttpMetadataService,
      condition: String = "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE"
  ): String = {
    val error = intercept[SpliceException](read(service))
    assert(error.getCondition == condition, error)
    error.getMessage
  }

  private def overHttp(handler: Exchange => Unit)(use: String => Unit): Unit = {
    val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.createContext(
      "/",
      exchange =>
        try handler(exchange)
        finally exchange.close()
    )
    server.start()
    try use(s"http://127.0.0.1:${server.getAddress.getPort}")
    finally server.stop(0)
  }

  private def send(exchange: Exchange, text: String): Unit = {
    exchange.sendResponseHeaders(200, text.getBytes(UTF_8).length.toLong)
    exchange.getResponseBody.write(text.getBytes(UTF_8))
  }

  /** Server that writes raw response bytes, to one connection at a time. */
  private def overSocket(write: OutputStream => Unit)(use: String => Unit): Unit = {
    val server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress)
    val thread = new Thread(() =>
      try Iterator.continually(server.accept()).foreach(socket => respond(socket, write))
      catch { case NonFatal(_) => () }
    )
    thread.start()
    try use(s"http://127.0.0.1:${server.getLocalPort}/streams")
    finally {
      server.close()
      thread.join()
    }
  }

  private def respond(socket: Socket, write: OutputStream => Unit): Unit =
    try Using.resource(socket) { s =>
        val in = s.getInputStream
        Iterator.continually(in.read()).sliding(4).find(_ == "\r\n\r\n".map(_.toInt))
        write(s.getOutputStream)
      }
    catch { case NonFatal(_) => () }

  private def line(out: OutputStream, text: String): Unit = out.write(text.getBytes(UTF_8))

  test("no redirect is followed, and its target receives no header") {
    val received = new AtomicInteger
    overHttp { exchange =>
      received.incrementAndGet()
      send(exchange, document)
    } { target =>
      Seq(301, 302, 303, 307, 308).foreach { status =>
        overHttp { exchange =>
          exchange.getResponseHeaders.set("Location", s"$target/other?sig=hunter2")
          exchange.sendResponseHeaders(status, -1)
        } { uri =>
          val message = rejected(service(s"$uri/streams"))
          assert(message.contains(s"status $status") && message.contains(s"a redirect to $target/other"))
          assert(message.contains("Set 'metadata.url'") && !message.contains("hunter2"))
        }
      }
    }
    assert(received.get == 0)
  }

  /** Sends the text byte by byte with pauses, until the client disconnects or the text ends. */
  private def trickle(out: OutputStream, text: String, left: CountDownLatch): Unit =
    text.getBytes(UTF_8).foreach { byte =>
      if (!left.await(50, TimeUnit.MILLISECONDS)) {
        out.write(byte.toInt)
        out.flush()
      }
    }

  test("one deadline applies to the whole response of a server that sends one byte at a time") {
    val head = s"HTTP/1.1 200 OK\r\nContent-Length: ${document.length}\r\n"
    Seq(
      (out: OutputStream, left: CountDownLatch) => trickle(out, s"$head\r\n$document", left),
      (out: OutputStream, left: CountDownLatch) => {
        line(out, s"$head\r\n")
        trickle(out, document, left)
      },
      (out: OutputStream, left: CountDownLatch) => {
        line(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        trickle(out, document.map(c => s"1\r\n$c\r\n").mkString + "0\r\n\r\n", left)
      }
    ).foreach { write =>
      val left = new CountDownLatch(1)
      overSocket(write(_, left)) { uri =>
        // A deadline per byte would permit the whole response.
        try assert(rejected(service(uri, Duration.ofMillis(500))).contains("'metadata.timeout' = 500 ms"))
        finally left.countDown()
      }
    }
  }

  test("a truncated response is rejected") {
    val whole = document + "# more\n"
    Seq(
      s"HTTP/1.1 200 OK\r\nContent-Length: ${whole.length}\r\n\r\n$document",
      s"HTTP/1.1 200 OK\r\nContent-Length: ${whole.length}\r\nConnection: close\r\n\r\n$document",
      s"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${document.length.toHexString}\r\n$document\r\n"
    ).foreach(response => overSocket(line(_, response))(uri => rejected(service(uri))))
    val text = s"HTTP/1.1 200 OK\r\nContent-Length: ${document.length}\r\nConnection: close\r\n\r\n$document"
    overSocket(line(_, text))(uri => assert(read(service(uri)).streams.contains("s")))
  }

  test("a response without an end is rejected after 8 MiB") {
    val received = new CountDownLatch(1)
    val chunk    = "#" * 1024 * 1024
    overSocket { out =>
      line(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      (1 to 32).foreach(_ => line(out, s"${chunk.length.toHexString}\r\n$chunk\r\n"))
      received.await()
    } { uri =>
      try {
        val message = rejected(service(uri), "SPLICE_METADATA.INVALID_DOCUMENT")
        assert(message.contains("longer than 8 MiB"))
      } finally received.countDown()
    }
  }

  test("headers may contain references, which are resolved for each request") {
    val folder              = Files.createTempDirectory("splice-http")
    val secrets             = folder.resolve("secrets.properties")
    def reader(uri: String) = HttpMetadataService(
      SourceOptions(Map(
        "metadata.url"                      -> uri,
        "metadata.header.Authorization"     -> ("$" + s"{file:$secrets:token}"),
        "kafka.config.providers"            -> "file",
        "kafka.config.providers.file.class" -> "org.apache.kafka.common.config.provider.FileConfigProvider"
      )),
      rules
    )
    overHttp { exchange =>
      if (Option(exchange.getRequestHeaders.getFirst("Authorization")).contains("Bearer second"))
        send(exchange, document)
      else exchange.sendResponseHeaders(401, -1)
    } { uri =>
      val reading = reader(uri)
      Files.writeString(secrets, "token=Bearer first")
      assert(intercept[SpliceException](reading.allStreams()).getMessage.contains("401"))
      Files.writeString(secrets, "token=Bearer second")
      assert(read(reading).streams.contains("s"))
      Files.writeString(secrets, "token=Bearer\\nhunter2")
      assert(!rejected(reader(uri)).contains("hunter2"))
    }
    Seq(secrets, folder).foreach(Files.delete(_: Path))
  }

  private def clients: Set[Thread] =
    Thread.getAllStackTraces.keySet.asScala.filter(_.getName.matches("HttpClient-.*SelectorManager")).toSet

  test("a closed service leaves no thread") {
    val before = clients
    overHttp(send(_, document)) { uri =>
      val open = service(uri)
      open.allStreams()
      assert((clients -- before).nonEmpty)
      open.close()
      Patient.until("the thread of the HTTP client ends") {
        // Java 17 ends the thread after the garbage collection of the client.
        System.gc()
        (clients -- before).isEmpty
      }
      // The service is still reachable, so only its client was collected.
      assert(open.toString.contains(uri))
    }
  }
}
