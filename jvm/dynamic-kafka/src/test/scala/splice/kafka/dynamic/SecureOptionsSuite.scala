// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions

/** Tests of options that protect the metadata and the credentials. */
final class SecureOptionsSuite extends AnyFunSuite {

  private def settings(more: (String, String)*): DynamicSettings =
    DynamicSettings(SourceOptions(Map("streams" -> "orders") ++ more))

  private def rejected(more: (String, String)*): String =
    intercept[SpliceOptionException](settings(more: _*)).getMessage

  test("an address without TLS is rejected unless it is on this machine or the option allows it") {
    Seq(
      "http://streams/",
      "HTTP://10.0.0.1:8080/s",
      "http://127.0.0.1.example/",
      "http://localhost.example/",
      "http://[::2]/"
    ).foreach { url =>
      val message = rejected("metadata.url" -> s"$url?sig=hunter2")
      assert(message.contains("'metadata.url'") && message.contains(url), url)
      assert(message.contains("'metadata.allowPlainHttp' to 'true'") && !message.contains("hunter2"), url)
      settings("metadata.url" -> url, "metadata.allowPlainHttp" -> "true")
    }
    Seq("https://streams/", "HTTPS://streams", "http://localhost:1/", "http://127.8.0.1/", "http://[::1]:8080/s")
      .foreach(url => settings("metadata.url" -> url))
    // Another service is used.
    settings("metadata" -> "file", "metadata.file" -> "/s.yaml", "metadata.url" -> "http://streams/")
  }

  test("an address must have a scheme and a host") {
    Seq("ftp://host/s", "http:/s", "https://my_host/", "streams.yaml").foreach { url =>
      assert(rejected("metadata.url" -> url).contains("an http or https address with a host name"), url)
    }
  }

  test("the format of a store must be one of three values") {
    val message = rejected("metadata.url" -> "https://h/", "metadata.ssl.truststore.type" -> "JCEKS")
    assert(message.contains("'metadata.ssl.truststore.type'") && message.contains("JKS, PKCS12, PEM"))
  }

  test("no text contains an option with a secret") {
    val options = SourceOptions(Map(
      "metadata.url"                     -> "https://h/?version=hunter2",
      "metadata.header.X-Team"           -> "hunter2",
      "metadata.ssl.keystore.password"   -> "hunter2",
      "metadata.ssl.truststore.password" -> "hunter2",
      "metadata.ssl.key.password"        -> "hunter2",
      "cluster.a.kafka.sasl.jaas.config" -> "hunter2",
      "streams"                          -> "orders"
    ))
    assert(!options.toString.contains("hunter2"))
    assert(!new DynamicKafkaSource(DynamicSettings(options)).toString.contains("hunter2"))
  }

  test("metadata.cluster must be a valid cluster name of a document") {
    Seq("a/b", "../x", "", "-a", "n" * 129).foreach { name =>
      val message = rejected("kafka.bootstrap.servers" -> "b:1", "metadata.cluster" -> name)
      assert(message.contains("'metadata.cluster'") && message.contains("up to 128 letters"), name)
    }
    settings("kafka.bootstrap.servers" -> "b:1", "metadata.cluster" -> "east-1.eu_x")
  }

  test("options of a cluster take precedence over the document, and the document over options of all clusters") {
    val document = KafkaCluster(
      "east",
      SortedMap("bootstrap.servers" -> "east:9092", "security.protocol" -> "PLAINTEXT", "sasl.mechanism" -> "PLAIN")
    )
    def of(more: (String, String)*) =
      settings(("metadata.file" -> "/s.yaml") +: more: _*).of(document, SortedSet("t")).client.properties
    val open = of("kafka.security.protocol" -> "SASL_SSL", "kafka.sasl.mechanism" -> "SCRAM-SHA-512")
    assert(open("security.protocol") == "PLAINTEXT" && open("sasl.mechanism") == "PLAIN")
    val fixed = of("cluster.east.kafka.security.protocol" -> "SASL_SSL")
    assert(fixed("security.protocol") == "SASL_SSL" && fixed("bootstrap.servers") == "east:9092")
    assert(of("cluster.west.kafka.security.protocol" -> "SASL_SSL")("security.protocol") == "PLAINTEXT")
    assert(of("cluster.east.kafka.bootstrap.servers" -> "mine:9092")("bootstrap.servers") == "mine:9092")
  }
}
