// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.immutable.ListMap
import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.matching.Regex
import scala.util.{Random, Using}

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import splice.source.SourceSpec
import splice.source.internal.entries.Json
import splice.source.options.SourceOptions

/** Checks the cases in `shown-options.json`. The Python package checks the same cases. */
final class SecretsSuite extends AnyFunSuite {

  private val cases = {
    val text =
      Using.resource(getClass.getResourceAsStream("/splice/source/shown-options.json"))(in =>
        new String(in.readAllBytes(), UTF_8)
      )
    Json.read(text).toSeq.flatMap(_.elements.asScala).map { node =>
      def field(name: String) = node.get(name).asText
      (field("name"), field("value"), field("shown").replace("<hidden>", Secrets.Redacted))
    }
  }

  test("options are shown without secrets") {
    assert(cases.size > 20)
    cases.foreach { case (name, value, shown) => assert(Secrets.redact(name, value) == shown, s"$name=$value") }
  }

  test("users and signatures of an address are hidden") {
    val users                = Seq("(?i)(https?://)[^/?#\\s]+@".r, "(://)[^/?#\\s]*:[^/?#\\s]*@".r)
    val query                = "(?i)([?&#;][^=?&#;\\s]*(?:sig|key)[^=?&#;\\s]*=)[^&#;\\s]+".r
    def hidden(text: String) = {
      val end = Regex.quoteReplacement(Secrets.Redacted)
      query.replaceAllIn(users.foldLeft(text)((at, user) => user.replaceAllIn(at, s"$$1$end@")), s"$$1$end")
    }
    val random = new Random(1)
    val parts  =
      Seq("http://", "HTTPS://", "s3a://", "://", ":", "@", "a", "/", "?", "&", "#", "=", "sig", "Key", " ", ";")
    Iterator.fill(200000)(Seq.fill(random.nextInt(16))(parts(random.nextInt(parts.size))).mkString).foreach { text =>
      assert(Secrets.redactStored("path", text) == (if (text.contains(":/")) hidden(text) else text), text)
    }
  }

  test("the time for a long address is not quadratic") {
    val parts = Seq(":", "://", "@", "?", "?a", "?a=", "?sig", "sig", "?sig=", "http://", "http://:", "/")
    val all   = Future(parts.foreach { part =>
      val text = "http://" + part * (4000000 / part.length)
      assert(Secrets.redactStored("path", text).nonEmpty && Secrets.redactStored("path", s"$text?").nonEmpty)
    })(ExecutionContext.global)
    Await.result(all, 60.seconds)
  }

  test("patterns of the user hide keys and values") {
    def shown(setting: String, pattern: String, key: String) = {
      val conf = new SQLConf
      conf.setConfString(setting, pattern)
      SQLConf.withExistingConf(conf)(Secrets.redact(key, "plain-value"))
    }
    Seq("spark.redaction.regex", "spark.sql.redaction.options.regex").foreach { setting =>
      assert(shown(setting, "(?i)landing", "path.landingZone") == Secrets.Redacted)
      assert(shown(setting, "ain-val", "path") == Secrets.Redacted)
      assert(shown(setting, "other", "path") == "plain-value")
    }
    assert(Secrets.redact("path", "plain-value") == "plain-value")
  }

  test("options whose secrets Spark shows are found") {
    val options = Map(
      "live.metadata.header.authorization"   -> "Basic dXNlcjpwYXNz",
      "metadata.header.cookie"               -> s"$${file:/run/secrets/http:cookie}",
      "metadata.url"                         -> "https://host/streams?sig=hunter2",
      "kafka.ssl.keystore.key"               -> "-----BEGIN PRIVATE KEY-----",
      "kafka.ssl.keystore.certificate.chain" -> "-----BEGIN CERTIFICATE-----",
      "kafka.ssl.truststore.certificates"    -> "-----BEGIN CERTIFICATE-----",
      "kafka.sasl.jaas.config"               -> "PlainLoginModule required password=\"hunter2\";",
      "kafka.ssl.key.password"               -> "hunter2",
      "kafka.bootstrap.servers"              -> "broker:9092"
    )
    val shown = Seq("kafka.ssl.keystore.key", "live.metadata.header.authorization", "metadata.url")
    assert(Secrets.shownBySpark(options) == shown)
    val conf = new SQLConf
    conf.setConfString("spark.redaction.regex", "(?i)password|keystore[.]key|metadata[.](header|url)")
    assert(SQLConf.withExistingConf(conf)(Secrets.shownBySpark(options)) == Nil)
  }

  test("texts of options and of sources contain no secret") {
    cases.foreach { case (name, value, _) =>
      Seq(SourceOptions(Map(name -> value)), SourceSpec(ListMap(name -> value))).foreach(text =>
        assert(!text.toString.contains("hunter2"), name)
      )
    }
  }
}
