// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.net.{InetAddress, InetSocketAddress, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.security.KeyStore
import java.util.Comparator
import java.util.concurrent.TimeUnit
import javax.net.ssl.{KeyManagerFactory, SSLContext, TrustManagerFactory}

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.sun.net.httpserver.{HttpsConfigurator, HttpsParameters, HttpsServer}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.document.DocumentProperties
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions

/** Tests of a metadata service with a private CA that requires a client certificate. */
final class HttpTlsSuite extends AnyFunSuite with BeforeAndAfterAll {

  private val password = "hunter2-store"

  private lazy val folder = Files.createTempDirectory("splice-tls")

  override protected def afterAll(): Unit =
    Using.resource(Files.walk(folder))(_.sorted(Comparator.reverseOrder[Path]()).forEach(f => Files.delete(f)))

  private def keytool(arguments: String*): Unit = {
    val program = Paths.get(System.getProperty("java.home"), "bin", "keytool").toString
    val process = new ProcessBuilder((program +: arguments).asJava)
      .redirectErrorStream(true)
      .redirectOutput(folder.resolve("keytool.log").toFile)
      .start()
    assert(
      process.waitFor(60, TimeUnit.SECONDS) && process.exitValue == 0,
      Files.readString(folder.resolve("keytool.log"))
    )
  }

  /** Creates a key store, and its certificate as PEM. */
  private def identity(name: String): (Path, Path) = {
    val (store, pem) = (folder.resolve(s"$name.p12"), folder.resolve(s"$name.pem"))
    val of           = Seq("-keystore", store.toString, "-storetype", "PKCS12", "-storepass", password, "-alias", name)
    val names        = Seq("-dname", s"CN=$name", "-ext", "SAN=IP:127.0.0.1")
    keytool(Seq("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "30") ++ names ++ of: _*)
    keytool(Seq("-exportcert", "-rfc", "-file", pem.toString) ++ of: _*)
    store -> pem
  }

  private lazy val (serverStore, serverPem) = identity("server")
  private lazy val (clientStore, clientPem) = identity("client")

  private lazy val trustStore = {
    val store = folder.resolve("trust.p12")
    val of    = Seq("-keystore", store.toString, "-storetype", "PKCS12", "-storepass", password)
    keytool(Seq("-importcert", "-noprompt", "-alias", "server", "-file", serverPem.toString) ++ of: _*)
    keytool(Seq("-importcert", "-noprompt", "-alias", "client", "-file", clientPem.toString) ++ of: _*)
    store
  }

  private def load(store: Path): KeyStore = {
    val loaded = KeyStore.getInstance("PKCS12")
    Using.resource(Files.newInputStream(store))(loaded.load(_, password.toCharArray))
    loaded
  }

  private def context: SSLContext = {
    val keys  = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
    val trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    keys.init(load(serverStore), password.toCharArray)
    trust.init(load(trustStore))
    val created = SSLContext.getInstance("TLS")
    created.init(keys.getKeyManagers, trust.getTrustManagers, new java.security.SecureRandom)
    created
  }

  private def overTls(use: URI => Unit): Unit = {
    val server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.setHttpsConfigurator(new HttpsConfigurator(context) {
      override def configure(parameters: HttpsParameters): Unit = {
        val tls = getSSLContext.getDefaultSSLParameters
        tls.setNeedClientAuth(true)
        parameters.setSSLParameters(tls)
      }
    })
    val document = "version: 1\nclusters: {a: {bootstrapServers: \"a:9092\"}}\nstreams: {s: {a: [t]}}\n".getBytes(UTF_8)
    server.createContext(
      "/",
      exchange => {
        exchange.sendResponseHeaders(200, document.length.toLong)
        exchange.getResponseBody.write(document)
        exchange.close()
      }
    )
    server.start()
    try use(URI.create(s"https://127.0.0.1:${server.getAddress.getPort}/streams"))
    finally server.stop(0)
  }

  private def read(uri: URI, tls: Map[String, String]): Set[String] = {
    val rules =
      new DocumentProperties(any = false, SourceOptions(Map.empty))
    val service = HttpMetadataService(SourceOptions(tls + ("metadata.url" -> uri.toString)), rules)
    try service.allStreams().streams.keySet.toSet
    finally service.close()
  }

  private def rejected(uri: URI, tls: Map[String, String]): Unit = {
    val error = intercept[SpliceException](read(uri, tls))
    assert(
      error.getCondition == "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE" && !error.toString.contains("hunter2"),
      error
    )
  }

  test("a trust store and a client certificate of the options are used") {
    val keys = Map(
      "metadata.ssl.keystore.location" -> clientStore.toString,
      "metadata.ssl.keystore.type"     -> "PKCS12",
      "metadata.ssl.keystore.password" -> password,
      "metadata.ssl.key.password"      -> password
    )
    val trust = Map(
      "metadata.ssl.truststore.location" -> trustStore.toString,
      "metadata.ssl.truststore.type"     -> "PKCS12",
      "metadata.ssl.truststore.password" -> password
    )
    val pem = Map("metadata.ssl.truststore.location" -> serverPem.toString, "metadata.ssl.truststore.type" -> "PEM")
    overTls { uri =>
      assert(read(uri, keys ++ trust) == Set("s"))
      assert(read(uri, keys ++ pem) == Set("s"))
      Seq(
        Map.empty[String, String],
        keys,
        trust,
        keys ++ trust + ("metadata.ssl.truststore.location" -> clientPem.toString) +
          ("metadata.ssl.truststore.type"                   -> "PEM") -
          "metadata.ssl.truststore.password",
        keys ++ trust + ("metadata.ssl.truststore.password" -> "hunter2-wrong"),
        keys ++ trust + ("metadata.ssl.keystore.location"   -> folder.resolve("none").toString)
      ).foreach(rejected(uri, _))
      // The certificate is valid only for 127.0.0.1.
      rejected(URI.create(uri.toString.replace("127.0.0.1", "localhost")), keys ++ trust)
    }
  }
}
