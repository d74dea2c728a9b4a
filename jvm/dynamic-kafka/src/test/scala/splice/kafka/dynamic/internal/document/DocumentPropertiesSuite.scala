// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import scala.collection.immutable.SortedSet

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.options.SourceOptions

/** Tests of attacks by the author of a metadata document, and of credentials in the options of the query. */
final class DocumentPropertiesSuite extends AnyFunSuite {

  private val plain = "org.apache.kafka.common.security.plain.PlainLoginModule required"

  private def reference(what: String): String = "$" + s"{$what}"

  private val query = Map(
    "metadata.file"                              -> "unused",
    "streams"                                    -> "orders",
    "kafka.security.protocol"                    -> "PLAINTEXT",
    "kafka.request.timeout.ms"                   -> "1000",
    "kafka.config.providers"                     -> "env",
    "kafka.config.providers.env.class"           -> "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    "credentials.reader.kafka.security.protocol" -> "SASL_SSL",
    "credentials.reader.kafka.sasl.jaas.config"  -> s"$plain username=me password=hunter22;",
    "credentials.west.eu.kafka.SASL.mechanism"   -> "PLAIN",
    "cluster.fixed.kafka.security.protocol"      -> "SSL"
  )

  private def read(any: Boolean, more: String, properties: (String, String)*): StreamMetadata = {
    def quoted(text: String) = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
    val lines = properties.map { case (key, value) => s"      ${quoted(key)}: ${quoted(value)}\n" }.mkString
    val all   = if (properties.isEmpty) "" else s"    properties:\n$lines"
    val text  = s"version: 1\nclusters:\n  east:\n    bootstrapServers: 'east:9092'\n$all$more" +
      "streams:\n  orders: {east: [orders]}\n"
    MetadataDocument.read("streams.yaml", text, new DocumentProperties(any, SourceOptions(query)))
  }

  private def refused(any: Boolean, more: String, properties: (String, String)*): String = {
    val error = intercept[SpliceException](read(any, more, properties: _*))
    assert(error.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT")
    error.getMessage
  }

  private val attacks = Seq(
    "config.providers"                          -> "env",
    "Config.Providers"                          -> "env",
    "config.providers.env.class"                -> "example.Provider",
    "config.providers.file.param.allowed.paths" -> "/",
    "sasl.oauthbearer.token.endpoint.url"       -> "file:///etc/passwd",
    "sasl.login.class"                          -> "example.Login",
    "sasl.client.callback.handler.class"        -> "example.Handler",
    "sasl.jaas.config"                          -> "com.sun.security.auth.module.JndiLoginModule required;",
    "metric.reporters"                          -> "example.Reporter",
    "ssl.engine.factory.class"                  -> "example.Factory",
    "ssl.truststore.location"                   -> "/etc/passwd",
    "sasl.kerberos.kinit.cmd"                   -> "/tmp/kinit",
    "ssl.endpoint.identification.algorithm"     -> "none",
    "client.rack"                               -> reference("env:HOME"),
    "security.protocol"                         -> "PLAINTEXT",
    "example.plugin.setting"                    -> "x"
  )

  test("a document sets no property of the client, and the error names the options that do") {
    attacks.foreach { case (key, value) =>
      val message = refused(any = false, "", key -> value)
      Seq(s"line 6: 'clusters.east.properties.$key'", s"'credentials.<name>.kafka.$key'", s"'cluster.east.kafka.$key'")
        .foreach(part => assert(message.contains(part), message))
      assert(message.contains("'metadataProperties' to 'any'"), message)
      assert(value.length < 8 || !message.contains(value), message)
    }
  }

  test("with metadataProperties=any, a document sets each property that a query may set") {
    attacks.foreach { case (key, value) =>
      assert(read(any = true, "", key -> value).clusters("east").properties(key) == value)
    }
    Seq("enable.auto.commit" -> "true", "auto.offset.reset" -> "latest", "Interceptor.Classes" -> "example.I").foreach {
      case (key, value) =>
        val message = refused(any = true, "", key -> value)
        assert(message.contains(s"line 6: 'clusters.east.properties.$key'"), message)
        assert(!message.contains("metadataProperties"), message)
    }
  }

  test("a literal secret is rejected with every value of metadataProperties, and the error does not contain it") {
    Seq("sasl.jaas.config" -> s"$plain username=me password=hunter22;", "ssl.key.password" -> "hunter22").foreach {
      case (key, value) =>
        assert(!refused(any = false, "", key -> value).contains("hunter"))
        val message = refused(any = true, "", key -> value)
        assert(message.contains("the value contains a literal secret") && !message.contains("hunter"), message)
    }
    val line = s"$plain username=me password='${reference("env:PASSWORD")}';"
    assert(read(any = true, "", "sasl.jaas.config" -> line).clusters.contains("east"))
  }

  test("a document selects credentials of the query by name, and another name is an error without the name") {
    Seq("reader", "READER", "west.eu").foreach(name =>
      assert(read(any = false, s"    credentials: $name\n").clusters("east").credentials.contains(name))
    )
    val message = refused(any = false, "    credentials: hunter22\n")
    assert(message.contains("line 5: 'clusters.east.credentials'") && !message.contains("hunter"), message)
    assert(message.contains("'credentials.<name>.kafka.<property>'") && message.contains("reader, west.eu"), message)
  }

  private def client(cluster: KafkaCluster) =
    DynamicSettings(SourceOptions(query)).of(cluster, SortedSet("orders")).client.properties

  private def cluster(name: String, credentials: String) =
    read(any = false, s"    credentials: $credentials\n").clusters("east").copy(name = name)

  test("credentials override properties of all clusters, and metadata and options of the cluster override both") {
    val east = client(cluster("east", "reader"))
    assert(east("security.protocol") == "SASL_SSL" && east("request.timeout.ms") == "1000")
    assert(east("sasl.jaas.config").contains("hunter22") && east("bootstrap.servers") == "east:9092")
    val west = client(cluster("west", "WEST.eu"))
    assert(west("security.protocol") == "PLAINTEXT" && west("sasl.mechanism") == "PLAIN")
    assert(client(cluster("fixed", "reader"))("security.protocol") == "SSL")
    val any = cluster("any", "reader")
    assert(client(any.copy(properties = any.properties + ("security.protocol" -> "SSL")))("security.protocol") == "SSL")
    assert(!any.toString.contains("hunter"))
  }

  test("credentials of the checkpoint that the options do not define are an error with the option to set") {
    val error = intercept[SpliceOptionException](client(cluster("east", "reader").copy(credentials = Some("gone"))))
    assert(error.getMessage.contains("credentials.gone.kafka.<property>"), error.getMessage)
  }

  test("an option of credentials has a name and a property that an option may set") {
    def rejected(key: String) =
      intercept[SpliceOptionException](DynamicSettings(SourceOptions(query + (key -> "x")))).getMessage
    Seq("credentials.reader", "credentials.kafka.client.id", "credentials.reader.maxOffsetsPerTrigger").foreach(key =>
      assert(rejected(key).contains("'credentials.<name>.kafka.<property>'"), key)
    )
    assert(rejected("credentials.a.kafka.auto.offset.reset").contains("startingOffsets"))
  }
}
