// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.SaslAuthenticationException
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.ClientProperties
import splice.source.internal.Secrets
import splice.source.options.SourceOptions

final class ClientSecretsSuite extends AnyFunSuite {

  private val module = "org.apache.kafka.common.security.plain.PlainLoginModule required"

  private def client(more: (String, String)*): ClientProperties =
    ClientProperties.of(SourceOptions(Map("kafka.bootstrap.servers" -> "127.0.0.1:9") ++ more))

  private def login(line: String): ClientProperties =
    client(
      "kafka.security.protocol" -> "SASL_PLAINTEXT",
      "kafka.sasl.mechanism"    -> "PLAIN",
      "kafka.sasl.jaas.config"  -> line
    )

  private def message(error: Throwable): String = ClientSecrets.chain(error).map(_.toString).mkString("\n")

  test("an error without secrets is unchanged") {
    val error = new KafkaException("alice may not", new SaslAuthenticationException("no"))
    assert(login(s"""$module username="alice" password="s3cr3t-horse";""").secrets.hide(error) eq error)
  }

  test("secrets are removed from an error and its causes") {
    val properties = client(
      "kafka.sasl.jaas.config" ->
        s"""$module username="alice" password="s3cr3t-horse" token='bare-battery' key="quo\\\"ted-clip";""",
      "kafka.ssl.keystore.password"   -> "key-staple",
      "kafka.ssl.truststore.password" -> ("$" + "{file:/run/trust:pw}")
    )
    val cause = new KafkaException("key-staple is not the one", new IllegalStateException("alice has s3cr3t-horse"))
    val clean = properties.secrets.hide(new KafkaException("with bare-battery or quo\"ted-clip", cause))
    val all   = message(clean)
    assert(Seq("s3cr3t", "horse", "staple", "battery", "clip").filter(all.contains).isEmpty, all)
    assert(all.contains("alice has") && all.contains("is not the one"))
    assert(clean.getStackTrace.nonEmpty)
  }

  test("no line of a private key is in an error or in the text of the properties") {
    val lines      = Seq("MIGHAgEAMBMGByqGSM49AgEGCCqGSM49", "AwEHBG0wawIBAQQghorsebattery")
    val key        = (("-----BEGIN PRIVATE KEY-----" +: lines) :+ "-----END PRIVATE KEY-----").mkString("\n")
    val properties = client("kafka.ssl.keystore.key" -> key, "kafka.ssl.keystore.type" -> "PEM")
    val clean      = properties.secrets.hide(new KafkaException(s"no key in '${lines.last}' of $key"))
    Seq(message(clean), properties.toString, SourceOptions(Map("kafka.ssl.keystore.key" -> key)).toString).foreach {
      text =>
        assert(lines.filter(text.contains).isEmpty, text)
    }
    assert(clean.getMessage.startsWith("no key in '"))
  }

  test("no part of an invalid login line is in an error") {
    Seq(
      s"""$module username="alice" password="corr"ect-horse";""",
      s"""$module username="alice" password="correct-horse" battery-staple;""",
      s"""$module username=alice password=correct horse;""",
      s"""org.apache.kafka.common.security.plain.PlainLoginModule password="correct-horse";""",
      s"""$module username="alice" password="correct-horse""""
    ).foreach { line =>
      val properties = login(line)
      val error      = properties.rejected("topics", intercept[KafkaException](Admin.create(properties.admin.asJava)))
      val all        = message(error)
      assert(Seq("corr", "horse", "battery").filter(all.contains).isEmpty, s"$line gave $all")
    }
  }

  test("a rejected login has a separate condition") {
    val error =
      KafkaErrors.rejected(
        "b:1",
        "topics",
        new KafkaException("made no client", new SaslAuthenticationException("bad"))
      )
    assert(error.getCondition == "SPLICE_KAFKA_ACCESS.AUTHENTICATION_FAILED")
    assert(error.getMessage.contains("made no client: bad") && error.getMessage.contains("'kafka.sasl.jaas.config'"))
    assert(KafkaErrors.rejected("b:1", "topics", new KafkaException("no")).getCondition == "SPLICE_KAFKA.BROKER_ERROR")
  }

  test("option names with secrets are detected") {
    Seq(
      "kafka.sasl.jaas.config",
      "kafka.ssl.key.password",
      "kafka.ssl.keystore.key",
      "kafka.sasl.oauthbearer.client.credentials.client.secret",
      "schema.registry.basic.auth.user.info",
      "fs.azure.account.key.store"
    ).foreach(key => assert(Secrets.isSecret(key), key))
    Seq(
      "kafka.bootstrap.servers",
      "kafka.ssl.keystore.location",
      "kafka.sasl.oauthbearer.token.endpoint.url",
      "subscribe"
    )
      .foreach(key => assert(!Secrets.isSecret(key), key))
    assert(!Secrets.redact("proxy", "http://me:pw-horse@host/x").contains("horse"))
  }
}
