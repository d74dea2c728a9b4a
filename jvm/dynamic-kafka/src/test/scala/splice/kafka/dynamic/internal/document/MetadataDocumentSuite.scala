// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.io.InputStream
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.{DocsPage, StreamMetadata}
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions

final class MetadataDocumentSuite extends AnyFunSuite {

  private def reference(what: String): String = "$" + s"{file:/run/secrets/east:$what}"

  private val yaml =
    s"""version: 1
       |generation: 7
       |clusters:
       |  east:
       |    bootstrapServers: east-1:9092,east-2:9092
       |    properties:
       |      security.protocol: SASL_SSL
       |      sasl.jaas.config: ${reference("jaas")}
       |  west: {bootstrapServers: "west-1:9092", active: false}
       |streams:
       |  orders: {east: [orders], west: [orders, orders-old]}
       |  refunds: {west: [refunds]}
       |""".stripMargin

  private def read(text: String): StreamMetadata =
    MetadataDocument.read(
      "streams.yaml",
      text,
      new DocumentProperties(any = true, providers)
    )

  private val providers = SourceOptions(Map(
    "kafka.config.providers"             -> "file",
    "kafka.config.providers.file.class"  -> "FileConfigProvider",
    "credentials.reader.kafka.client.id" -> "reader"
  ))

  private def refused(text: String): String = intercept[SpliceException](read(text)).getMessage

  test("streams, clusters, topics and inactive clusters are read") {
    val found = read(yaml)
    assert(found.generation.contains(7L))
    assert(found.streams("orders").topics.view.mapValues(_.mkString(",")).toMap ==
      Map("east" -> "orders", "west" -> "orders,orders-old"))
    assert(found.clusters("east").properties == Map(
      "bootstrap.servers" -> "east-1:9092,east-2:9092",
      "security.protocol" -> "SASL_SSL",
      "sasl.jaas.config"  -> reference("jaas")
    ))
    assert(found.clusters.collect { case (name, c) if !c.active => name }.toSet == Set("west"))
  }

  test("limits of a cluster are read, and an invalid value is an error with line and allowed values") {
    def limited(text: String) = yaml.replace("active: false", text)
    val west                  = read(limited("maxOffsetsPerTrigger: 1000, maxBytesPerTrigger: 10m")).clusters("west")
    assert(west.maxOffsetsPerTrigger.contains(1000L) && west.maxBytesPerTrigger.contains(10L << 20))
    assert(read(yaml).clusters.values.forall(c => c.maxOffsetsPerTrigger.isEmpty && c.maxBytesPerTrigger.isEmpty))
    Seq(
      ("maxOffsetsPerTrigger", "0", "1 or more"),
      ("maxOffsetsPerTrigger", "many", "1 or more"),
      ("maxBytesPerTrigger", "-1", "128m"),
      ("maxBytesPerTrigger", "1x", "128m")
    ).foreach { case (key, value, allowed) =>
      val message = refused(limited(s"$key: $value"))
      Seq("line 9", s"clusters.west.$key", s"'$value'", allowed).foreach(part =>
        assert(message.contains(part), message)
      )
    }
  }

  test("merge keys are merged, and fields with the prefix x- are ignored") {
    val merging =
      """version: 1
        |x-security: &security {security.protocol: SSL, client.rack: r}
        |x-defaults: &defaults {bootstrapServers: "d:9092", active: false}
        |clusters:
        |  east: {bootstrapServers: "e:9092", properties: {client.rack: own, <<: *security}}
        |  west: {<<: *defaults, properties: {<<: [{client.rack: first}, *security]}}
        |streams:
        |  orders: &parts {east: &topics [orders]}
        |  refunds: {<<: *parts, west: *topics}
        |""".stripMargin
    val found = read(merging)
    val east  = found.clusters("east")
    assert(east.active && east.properties == Map(
      "bootstrap.servers" -> "e:9092",
      "security.protocol" -> "SSL",
      "client.rack"       -> "own"
    ))
    val west = found.clusters("west")
    assert(!west.active && west.properties("bootstrap.servers") == "d:9092")
    assert(west.properties("client.rack") == "first" && west.properties("security.protocol") == "SSL")
    assert(found.streams("refunds").topics.keySet == Set("east", "west"))
    assert(refused(merging.replace(
      "<<: *parts",
      "<<: 7"
    )).contains("line 9: 'streams.refunds' is invalid: the value of '<<'"))
    assert(refused(merging.replace("<<: *parts", "<<: &own {<<: *own}")).nonEmpty)
    assert(refused(merging.replace(
      "version: 1",
      "version: 1\nclusters-old: {}"
    )).contains("'clusters-old' does not exist"))
    assert(refused(merging.replace("{<<: *parts", "{x-a: [t]")).contains("cluster 'x-a' does not exist"))
  }

  test("JSON documents are read") {
    val json  = """{"version":1,"clusters":{"a":{"bootstrapServers":"a:1"}},"streams":{"s":{"a":["t"]}}}"""
    val found = read(json)
    assert(found.generation.isEmpty && found.streams("s").topics("a") == Set("t"))
  }

  test("each document of the documentation is valid") {
    val page      = DocsPage("dynamic-kafka.md")
    val documents = "(?ms)^```yaml\n(.*?)^```$".r.findAllMatchIn(page).map(_.group(1)).toSeq
    assert(documents.size == 4 && documents.forall(read(_).streams.contains("orders")))
  }

  test("JSON may be indented with tabs") {
    val json = "{\n\t\"version\": 1,\n\t\"clusters\": {\"a\": {\n\t\t\"bootstrapServers\":\t\"a:1\"}},\n" +
      "\t\"streams\": {\"s\\tt\": {\"a\": [\"t\"]}}}"
    assert(read(json).streams.keySet == Set("s\tt"))
  }

  test("JSON may escape slashes, and an escaped backslash before a slash remains") {
    val json =
      raw"""{"version":1,"clusters":{"a":{"bootstrapServers":"a:1","properties":{
           |"ssl.key.password":"$${file:\/run\/a:key}","client.id":"x\\/y\\\/z"}}},"streams":{"s\/t":{"a":["t"]}}}"""
        .stripMargin
    Seq(json, json.replace(",\"client", ",\t\"client")).foreach { text =>
      val found = read(text)
      assert(found.streams.keySet == Set("s/t"))
      val properties = found.clusters("a").properties
      assert(properties("ssl.key.password") == "$" + "{file:/run/a:key}" && properties("client.id") == "x\\/y\\/z")
    }
  }

  test("an anchor may be used for hundreds of clusters and streams") {
    val clusters = (1 to 300).map(i => s"  c$i: {bootstrapServers: 'c:$i', properties: *tls}\n")
    val streams  = (1 to 300).map(i => s"  s$i: *all\n")
    val found    = read(
      "version: 1\nclusters:\n  c0: {bootstrapServers: 'c:0', properties: &tls {security.protocol: SSL}}\n" +
        s"${clusters.mkString}streams:\n  s0: &all {c0: [t]}\n${streams.mkString}"
    )
    assert(found.clusters.size == 301 && found.clusters.values.forall(_.properties("security.protocol") == "SSL"))
    assert(found.streams.size == 301 && found.streams.values.forall(_.topics("c0") == Set("t")))
  }

  private def topics(stream: Int): Seq[String] = (0 until 20).map(t => f"a-topic-of-some-length-$stream%06d-$t%02d")

  private def assertLarge(text: String, streams: Int): Unit = {
    assert(text.length > 4000000)
    val found = read(text).streams
    assert(found.size == streams)
    Seq(0, streams - 1).foreach(i => assert(found(f"stream-$i%06d").topics("a").toSeq == topics(i)))
  }

  test("YAML of four million characters with thousands of streams is read") {
    val streams = (0 until 6000).map(i => f"  stream-$i%06d:\n    a: [${topics(i).mkString(", ")}]\n")
    assertLarge(s"version: 1\nclusters: {a: {bootstrapServers: \"a:1\"}}\nstreams:\n${streams.mkString}", 6000)
  }

  test("JSON of four million characters on one line is read") {
    val streams = (0 until 6000).map(i => f"\"stream-$i%06d\":{\"a\":[${topics(i).mkString("\"", "\",\"", "\"")}]}")
    assertLarge(
      s"""{"version":1,"clusters":{"a":{"bootstrapServers":"a:1"}},"streams":{${streams.mkString(",")}}}""",
      6000
    )
  }

  test("a document that is longer than 8 MiB is rejected with its name") {
    val error = intercept[SpliceException](read("#".repeat(MetadataText.Longest + 1)))
    assert(error.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT" && error.getMessage.contains("longer than 8 MiB"))
  }

  test("at most one byte after 8 MiB of a text is read") {
    val bytes = Iterator.fill(MetadataText.Longest + 1)('#')
    val in    = new InputStream {
      override def read(): Int = bytes.nextOption().getOrElse(throw new AssertionError("the limit is exceeded")).toInt
    }
    val error = intercept[SpliceException](MetadataText.read("streams.yaml", in))
    assert(error.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT" && error.getMessage.contains("longer than 8 MiB"))
  }

  test("a YAML tag creates no object") {
    val tag = s"!!${classOf[Tagged].getName}"
    Seq(s"streams: $tag {}", s"streams: {s: {west: [$tag t]}}", s"? $tag streams\n: {}").foreach { streams =>
      val text  = yaml.replaceAll("(?s)streams:.*", streams)
      val error = intercept[SpliceException](read(text))
      assert(error.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT", error)
      assert(error.getMessage.contains("Global tag is not allowed"), error)
      assert(Tagged.created.get == 0, text)
    }
  }

  test("only subscribed streams but all clusters are kept, because a removed topic may still be drained") {
    val some = read(yaml).only(Set("refunds"))
    assert(some.streams.keySet == Set("refunds") && some.clusters.keySet == Set("east", "west"))
    assert(some.used.keySet == Set("west"))
  }

  test("a document without streams is valid") {
    assert(read("version: 1\nstreams: {}").streams.isEmpty)
  }

  test("an error has the line of the fault") {
    assert(refused("version: 1\nstreams:\n  s: {nowhere: [t]}").contains(
      "streams.yaml, line 3: 'streams.s.nowhere' is invalid: cluster 'nowhere' does not exist"
    ))
    assert(refused(yaml.replace("bootstrapServers: east", "bootstrapServer: east")).contains(
      "line 5: 'clusters.east.bootstrapServer' is invalid: the field 'bootstrapServer' does not exist"
    ))
    assert(refused(yaml.replace("west: [refunds]", "west: []")).contains("line 12: 'streams.refunds.west'"))
    assert(refused(yaml.replace("refunds:", "orders:")).contains("'orders' is set twice"))
    assert(refused(yaml.replace("active: false", "active: maybe")).contains("neither true nor false"))
    assert(refused(yaml.replace("  west: {boot", "  we/st: {boot")).contains("not a valid cluster name"))
    assert(refused("generation: 1\nstreams: {}").contains("'version' is missing"))
    assert(refused("version: 1\n").contains("'streams' is missing"))
    assert(refused("").contains("the document is empty"))
    assert(refused("version: 1\nstreams: [").contains("line 2"))
    assert(refused("- 1").contains("not an object"))
  }

  test("confirmRemovals must be a number of topics, 1 or more") {
    def confirmed(value: String) = yaml.replace("generation: 7", s"generation: 7\nconfirmRemovals: $value")
    assert(read(yaml).confirmRemovals.isEmpty && read(confirmed("12")).confirmRemovals.contains(12))
    Seq("0", "-1", "1.5", "all", "2147483648").foreach { value =>
      val message = refused(confirmed(value))
      assert(message.contains("line 3: 'confirmRemovals'") && message.contains(s"'$value' is not a valid number of"))
    }
    assert(read(confirmed("12")).only(Set("refunds")).confirmRemovals.contains(12))
  }

  test("topics must have names that Kafka accepts") {
    Seq("a,b", "a b", "a/b", ".", "..", "ä", "t" * 250).foreach { topic =>
      val message = refused(yaml.replace("west: [refunds]", s"west: [refunds, '$topic']"))
      assert(message.contains("line 12: 'streams.refunds.west[1]'"), topic)
      assert(message.contains(s"'$topic' is not a valid topic name. Use 1 to 249 ASCII letters"), topic)
    }
    val longest = "t" * 249
    assert(read(yaml.replace("west: [refunds]", s"west: [$longest]")).streams("refunds").topics("west") ==
      Set(longest))
  }

  test("an error does not repeat a long name") {
    val message = refused(s"version: 1\nstreams: {}\n? ${"n" * 500000}\n: 1\n")
    assert(message.contains("the field 'nnn") && message.length < 10000)
  }

  test("a newer version of the document is an error") {
    val error = intercept[SpliceException](read("version: 2\nsomething: new"))
    assert(error.getCondition == "SPLICE_METADATA.VERSION_NOT_SUPPORTED" && error.getMessage.contains("version 2"))
  }

  test("a literal secret is rejected and not shown, and a reference is accepted") {
    val plain = yaml.replace(reference("jaas"), """Login required username="me" password="hunter22";""")
    assert(refused(plain).contains("line 8: 'clusters.east.properties.sasl.jaas.config'"))
    assert(!refused(plain).contains("hunter22"))
    assert(read(plain.replace("hunter22", reference("password"))).clusters.contains("east"))
    assert(refused(yaml.replace("security.protocol: SASL_SSL", "ssl.key.password: hunter22")).contains("line 7"))
    Seq("*hunter22", "!hunter22!x", "&hunter22", "'hunter22", "%hunter22", "@hunter22", "`hunter22").foreach { value =>
      val message = refused(yaml.replace("security.protocol: SASL_SSL", s"ssl.key.password: $value"))
      assert(!message.contains("hunter22"), message)
    }
    Seq("*hunter22", "!hunter22!x", "!!hunter22 x", "\"\\Uhunter22\"").foreach { value =>
      val message = refused(yaml.replace("security.protocol: SASL_SSL", s"ssl.key.password: $value"))
      assert(message.contains("line 7") && message.contains("quotation marks") && !message.contains("hunter"), message)
    }
    val comma = yaml.replace("security.protocol: SASL_SSL", "security.protocol: SASL_SSL\n      hunter22")
    val named = "sasl.jaas.config:o.Scram required username=\"u\" password=\"hunter22: z"
    Seq(comma, yaml.replace("security.protocol: SASL_SSL", named)).foreach(text =>
      assert(!refused(text).contains("hunter22"))
    )
    val joined = refused(yaml.replace("security.protocol: SASL_SSL", "? ssl.key.password:hunter22"))
    assert(joined.contains("Write a space after ':'") && !joined.contains("hunter"), joined)
  }

  private def login(options: String): String =
    yaml.replace(reference("jaas"), s"|\n        example.LoginModule required\n        $options")

  test("a secret is detected in every spelling of a login line that Kafka accepts") {
    Seq(
      "username=\"me\" password=\"hunter22\";",
      "username='me' password='hunter22';",
      "username=me password=hunter22;",
      "password = hunter22;",
      "password\n        =\n        \"hunter22\";",
      "password=\"hunt\\\"er22\";",
      "password='hunter\"22';",
      "\"password\"=\"hunter22\";",
      "password=12345678;",
      "password=hunter/22;",
      "password /* of me */ = /* kept */ \"hunter22\";",
      "/* password=\"hunter22\" */ username=me;",
      "PassWord=\"hunter22\";",
      "clientSecret=\"hunter22\";",
      "api-key=hunter22;",
      "passphrase=hunter22;",
      "token='hunter22';",
      "password=\"hunter22",
      s"password='${reference("password")}' token='hunter22';",
      s"password=\"${reference("password")}hunter22\";"
    ).foreach { options =>
      val message = refused(login(options))
      assert(message.contains("'clusters.east.properties.sasl.jaas.config'"), options)
      assert(!message.contains("hunter"), options)
    }
  }

  test("a login line without a secret is accepted in every spelling") {
    Seq(
      s"username=me password='${reference("password")}';",
      s"username=me password=${reference("password")};",
      s"username='me' password = \"${reference("password")}\" tokenauth=true;",
      "useKeyTab=true keyTab=\"/etc/me.keytab\" principal=\"me@REALM\";"
    ).foreach(options => assert(read(login(options)).clusters.contains("east"), options))
  }

  test("a reference to an unconfigured provider is a literal, which Kafka would use unchanged") {
    val message = refused(yaml.replace("{file:", "{vault:"))
    assert(message.contains("'clusters.east.properties.sasl.jaas.config'") &&
      message.contains("kafka.config.providers"))
    assert(refused(login("password='$" + "{hunter22}';")).contains("sasl.jaas.config"))
    assert(refused(login("password='$" + "{vault:hunter22}';")).contains("sasl.jaas.config"))
    val own =
      yaml.replace("security.protocol: SASL_SSL", "config.providers: vault\n      config.providers.vault.class: V")
    assert(read(own.replace("{file:", "{vault:")).clusters.contains("east"))
  }

  test("a secret in an address is a literal") {
    Seq("https://me:hunter22@host/", "https://host/token?sig=hunter22").foreach { url =>
      val message = refused(yaml.replace("security.protocol: SASL_SSL", s"schema.registry.url: \"$url\""))
      assert(message.contains("schema.registry.url") && !message.contains("hunter"))
    }
  }
}

/** Class that tags of documents name. */
final class Tagged {
  Tagged.created.incrementAndGet()
}

object Tagged {
  val created = new AtomicInteger
}
