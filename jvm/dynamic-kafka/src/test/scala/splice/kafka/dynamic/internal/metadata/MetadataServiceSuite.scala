// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.io.{FileNotFoundException, RandomAccessFile}
import java.net.{InetAddress, InetSocketAddress, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, Path, RawLocalFileSystem}
import org.apache.kafka.common.config.ConfigData
import org.apache.kafka.common.config.provider.ConfigProvider
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.document.{DocumentProperties, MetadataText}
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.kafka.internal.options.ClientProperties
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions
import splice.testkit.internal.Patient

final class MetadataServiceSuite extends AnyFunSuite with Patient {

  private def document(generation: Int, topic: String, active: Boolean = true): String =
    s"""version: 1
       |generation: $generation
       |clusters: {a: {bootstrapServers: "a:9092", active: $active}}
       |streams: {s: {a: [$topic]}}
       |""".stripMargin

  private def topics(found: StreamMetadata): String = found.streams("s").topics("a").mkString(",")

  private def unavailable(service: KafkaMetadataService): String = {
    val error = intercept[SpliceException](service.allStreams())
    assert(error.getCondition == "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE")
    error.getMessage
  }

  private def inFile(use: (LocalPath, KafkaMetadataService) => Unit): Unit = {
    val folder = Files.createTempDirectory("splice-metadata")
    val file   = folder.resolve("streams.yaml")
    try use(
        file,
        DocumentService.file(
          new Path(file.toUri),
          new Configuration(),
          new DocumentProperties(any = false, SourceOptions(Map.empty))
        )
      )
    finally {
      Files.deleteIfExists(file)
      val _ = Files.deleteIfExists(folder)
    }
  }

  private def replace(file: LocalPath, text: String): Unit = {
    val other = file.resolveSibling("next")
    Files.writeString(other, text)
    val _ = Files.move(other, file, ATOMIC_MOVE)
  }

  test("a file that is longer than 8 MiB is rejected with its name") {
    inFile { (file, service) =>
      Using.resource(new RandomAccessFile(file.toFile, "rw"))(_.setLength(MetadataText.Longest + 1L))
      val error = intercept[SpliceException](service.allStreams())
      assert(error.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT")
      assert(error.getMessage.contains(file.getFileName.toString) && error.getMessage.contains("longer than 8 MiB"))
    }
  }

  test("a file is read at each request and may be replaced") {
    inFile { (file, service) =>
      replace(file, document(1, "one"))
      assert(topics(service.allStreams()) == "one" && service.allStreams().clusters("a").active)
      replace(file, document(2, "two", active = false))
      val found = service.describeStreams(Set("s", "unheard-of"))
      assert(topics(found) == "two" && found.generation.contains(2L) && !found.clusters("a").active)
    }
  }

  test("a missing file is an error with its name") {
    inFile((file, service) => assert(unavailable(service).contains(file.getFileName.toString)))
  }

  /** Runs an HTTP server with a changeable response that counts sent documents. */
  private def overHttp(use: (AtomicReference[(String, Int)], AtomicInteger, URI) => Unit): Unit = {
    val response = new AtomicReference("" -> 200)
    val full     = new AtomicInteger
    val server   = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.createContext(
      "/streams",
      (exchange: HttpExchange) => {
        val (text, status) = response.get()
        val tag            = s""""${text.hashCode}""""
        val known          = Option(exchange.getRequestHeaders.getFirst("If-None-Match")).contains(tag)
        exchange.getResponseHeaders.set("ETag", tag)
        if (Option(exchange.getRequestHeaders.getFirst("Authorization")).forall(_ != "Bearer me"))
          exchange.sendResponseHeaders(401, -1)
        else if (status == 200 && known) exchange.sendResponseHeaders(304, -1)
        else {
          full.incrementAndGet()
          exchange.sendResponseHeaders(status, text.getBytes(UTF_8).length.toLong)
          exchange.getResponseBody.write(text.getBytes(UTF_8))
        }
        exchange.close()
      }
    )
    server.start()
    try use(response, full, URI.create(s"http://127.0.0.1:${server.getAddress.getPort}/streams"))
    finally server.stop(0)
  }

  private def http(uri: URI, headers: (String, String)*): HttpMetadataService =
    new HttpMetadataService(
      uri,
      Patient.Limit,
      HttpCredentials(headers.toMap),
      new DocumentProperties(any = false, SourceOptions(Map.empty))
    )

  test("an endpoint is requested each time, and sends its unchanged document only once") {
    overHttp { (response, full, uri) =>
      val service = http(uri, "Authorization" -> "Bearer me")
      response.set(document(1, "one") -> 200)
      assert(topics(service.allStreams()) == "one" && topics(service.allStreams()) == "one" && full.get == 1)
      response.set(document(2, "two", active = false) -> 200)
      assert(topics(service.allStreams()) == "two" && full.get == 2)
      assert(!service.allStreams().clusters("a").active && full.get == 2)
    }
  }

  test("an endpoint that rejects, fails or is unreachable is an error") {
    overHttp { (response, _, uri) =>
      assert(unavailable(http(uri)).contains("401"))
      response.set("sorry" -> 500)
      assert(unavailable(http(uri, "Authorization" -> "Bearer me")).contains("500"))
    }
    val gone = Using.resource(new java.net.ServerSocket(0))(_.getLocalPort)
    assert(unavailable(http(URI.create(s"http://user:hunter22@127.0.0.1:$gone/"))).contains("127.0.0.1"))
    assert(!unavailable(http(URI.create(s"http://user:hunter22@127.0.0.1:$gone/"))).contains("hunter22"))
  }

  private def thrown(error: Throwable): Seq[String] =
    Iterator.iterate(Option(error))(_.flatMap(e => Option(e.getCause))).takeWhile(_.nonEmpty).flatten
      .map(_.toString).toSeq

  test("no error shows the user and password of the address of a file") {
    val configuration = new Configuration()
    configuration.set("fs.users.impl", classOf[AddressFileSystem].getName)
    configuration.setBoolean("fs.users.impl.disable.cache", true)
    val rules   = new DocumentProperties(any = false, SourceOptions(Map.empty))
    val service = DocumentService.file(new Path("users://me:hunter2@host/streams.yaml"), configuration, rules)
    val error   = intercept[SpliceException](service.allStreams())
    assert(error.getCondition == "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE")
    assert(error.getMessage.contains("host/streams.yaml") && error.getMessage.contains("does not exist"))
    (thrown(error) :+ service.toString).foreach(text => assert(!text.contains("hunter2"), text))
  }

  test("no error shows the secrets of a signed address or of a header") {
    val gone   = Using.resource(new java.net.ServerSocket(0))(_.getLocalPort)
    val signed = URI.create(s"http://hunter2@127.0.0.1:$gone/s?sig=hunter2&X-Amz-Date=hunter2&version=3")
    val all    = Seq(
      http(signed, "Authorization" -> "Bearer hunter2"),
      http(signed, "X-Api-Key"     -> "hunter2\nwith a line break"),
      http(URI.create("http://127.0.0.1:1/?code=hunter2").resolve("http:/?code=hunter2"))
    )
    all.foreach { service =>
      val error = intercept[SpliceException](service.allStreams())
      assert(error.getCondition == "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE")
      (thrown(error) :+ service.toString).foreach(text => assert(!text.contains("hunter2"), text))
    }
    assert(unavailable(all.head).contains(s"127.0.0.1:$gone/s") && !unavailable(all.head).contains("version=3"))
  }

  test("a request after a failed request has a new client, which reads references to secrets again") {
    val gone    = Using.resource(new java.net.ServerSocket(0))(_.getLocalPort)
    val options = SourceOptions(Map(
      "kafka.bootstrap.servers"               -> s"127.0.0.1:$gone",
      "kafka.client.id"                       -> s"$${changing:file:id}",
      "kafka.config.providers"                -> "changing",
      "kafka.config.providers.changing.class" -> classOf[ChangingSecrets].getName,
      "kafka.request.timeout.ms"              -> "100",
      "kafka.default.api.timeout.ms"          -> "200"
    ))
    def clients = Thread.getAllStackTraces.keySet.asScala.map(_.getName).filter(_.contains(ChangingSecrets.Name))
    Using.resource(new SingleClusterMetadataService("a", ClientProperties.of(options))) { service =>
      val reads = Seq.fill(2) {
        assert(unavailable(service).contains(s"127.0.0.1:$gone"))
        eventually(assert(clients.isEmpty))
        ChangingSecrets.reads.get
      }
      assert(reads.head > 0 && reads.head < reads.last)
    }
  }
}

/** Returns another value for each request. */
final class ChangingSecrets extends ConfigProvider {
  override def get(path: String): ConfigData                              = get(path, java.util.Set.of())
  override def get(path: String, keys: java.util.Set[String]): ConfigData = {
    val value = s"${ChangingSecrets.Name}-${ChangingSecrets.reads.incrementAndGet()}"
    new ConfigData(keys.asScala.map(_ -> value).toMap.asJava)
  }
  override def configure(configs: java.util.Map[String, _]): Unit = ()
  override def close(): Unit                                      = ()
}

object ChangingSecrets {
  val Name  = "changing-secrets"
  val reads = new AtomicInteger
}

/** Reports a missing file with the address of the file, as Hadoop's FTP file system does. */
final class AddressFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("users:///")

  override def checkPath(path: Path): Unit = ()

  override def open(path: Path, buffer: Int): FSDataInputStream =
    throw new FileNotFoundException(s"File $path does not exist.")
}
