// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import java.nio.charset.StandardCharsets
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.AdminClientConfig
import org.apache.kafka.clients.consumer.ConsumerConfig
import org.apache.kafka.common.config.provider.{DirectoryConfigProvider, FileConfigProvider}
import org.apache.kafka.common.config.{AbstractConfig, SaslConfigs}
import org.apache.kafka.common.security.JaasContext
import org.apache.kafka.common.security.plain.PlainLoginModule
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.options.{ClientProperties, ReadLimits}
import splice.source.options.SourceOptions

/** Tests of secrets that login lines refer to, with the parser of Kafka's clients. */
final class LoginSecretsSuite extends AnyFunSuite {

  private val module = classOf[PlainLoginModule].getName

  private def reference(what: String): String = "$" + s"{$what}"

  private val secret =
    "a\"b';c\\d\\\"; module=x /* // 44$5 " + reference("file:x:y") + " \r\n\té\uD83D\uDE00"

  /** Stores secrets, and returns the folder. */
  private def folder(secrets: (String, String)*): Path = {
    val created = Files.createTempDirectory("secrets")
    secrets.foreach { case (name, text) =>
      Files.write(created.resolve(name), text.getBytes(StandardCharsets.UTF_8))
    }
    created
  }

  private def client(line: String, in: Path): ClientProperties = ClientProperties.of(SourceOptions(Map(
    "kafka.bootstrap.servers"                         -> "127.0.0.1:9",
    "kafka.sasl.jaas.config"                          -> line,
    "kafka.ssl.keystore.password"                     -> reference(s"dir:$in:secret"),
    "kafka.config.providers"                          -> "dir,file",
    "kafka.config.providers.dir.class"                -> classOf[DirectoryConfigProvider].getName,
    "kafka.config.providers.dir.param.allowed.paths"  -> in.toString,
    "kafka.config.providers.file.class"               -> classOf[FileConfigProvider].getName,
    "kafka.config.providers.file.param.allowed.paths" -> in.toString
  )))

  /** The module and the options of the login line, as each of Kafka's clients reads it. */
  private def logins(properties: ClientProperties): Set[(String, Map[String, String])] = {
    val clients: Seq[AbstractConfig] = Seq(
      new AdminClientConfig(properties.admin.asJava),
      new ConsumerConfig(properties.driver("run").asJava),
      new ConsumerConfig(properties.reader("run", limits).asJava)
    )
    clients.map { config =>
      val entries = JaasContext.loadClientContext(config.values).configurationEntries.asScala
      assert(entries.size == 1)
      entries.head.getLoginModuleName -> entries.head.getOptions.asScala.map { case (k, v) => k -> v.toString }.toMap
    }.toSet
  }

  private val limits = ReadLimits.within(1 << 24, partitions = 1, recordBytes = None)

  test("a secret with the syntax of login lines is the value of its option, and changes no other option") {
    val in      = folder("secret" -> secret, "user" -> "alice")
    val (s, u)  = (reference(s"dir:$in:secret"), reference(s"dir:$in:user"))
    val options = Map("username" -> "alice", "password" -> secret)
    Seq(
      s"""$module required username="$u" password="$s";""",
      s"$module required username='$u' password='$s' ;",
      s"$module required username=$u /* $s */ password=$s;"
    ).foreach(line => assert(logins(client(line, in)) == Set(module -> options), line))
    val inside = s"""$module required username="x-$u-$u" password="\\"$s" key='$$1';"""
    assert(logins(client(inside, in)) ==
      Set(module -> Map("username" -> "x-alice-alice", "password" -> s"\"$secret", "key" -> "$1")))
  }

  test("a reference to a whole login line, and a line without a reference to a secret, are unchanged") {
    val in    = folder("line" -> s"""$module required username="alice" password="a\\"b";""", "secret" -> "x")
    val whole = client(reference(s"dir:$in:line"), in)
    assert(whole.admin(SaslConfigs.SASL_JAAS_CONFIG) == reference(s"dir:$in:line"))
    assert(logins(whole) == Set(module -> Map("username" -> "alice", "password" -> "a\"b")))
    val literal = s"""$module required username="alice" password="${reference("vault:a:b")}";"""
    assert(client(literal, in).admin(SaslConfigs.SASL_JAAS_CONFIG) == literal)
    val missing = s"""$module required username="alice" password="${reference(s"dir:$in:none")}";"""
    assert(logins(client(missing, in)).map(_._2("password")) == Set(reference(s"dir:$in:none")))
  }

  test("secrets of other properties are not escaped, and the properties of a client have references only") {
    val in         = folder("secret" -> secret)
    val properties = client(s"""$module required password="${reference(s"dir:$in:secret")}";""", in)
    val password   = new AdminClientConfig(properties.admin.asJava).originals.get("ssl.keystore.password")
    assert(password == secret)
    assert(properties.properties(SaslConfigs.SASL_JAAS_CONFIG).contains(reference(s"dir:$in:secret")))
  }
}
