// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.nio.file.{Files, Paths}
import java.util.concurrent.TimeUnit
import java.util.{List => JList}

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future, Promise}
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.config.types.Password
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.metadata.DocumentBombs

/** Tests of documents that would exhaust the memory or the stack of the driver. */
final class DocumentLimitsSuite extends AnyFunSuite {

  private def message(text: String): String = DocumentBombs.rejection(text).fold("accepted")(_.getMessage)

  test("a document has limits of values, including aliases, and of levels") {
    val lists = "- a\n" * (DocumentLimits.Values + 10)
    assert(
      message(lists).contains(s"line ${DocumentLimits.Values}: the document is invalid: the document has more")
    )
    assert(message("a:\n " + "[" * 30).contains("line 2: the document is invalid: objects and lists are nested"))
    assert(message("version: 1\nstreams: {}\n") == "accepted")
  }

  test("aliases of aliases are rejected before their values are expanded") {
    val head                            = "version: 1\nclusters: {a: {bootstrapServers: \"a:1\"}}\nstreams:\n"
    def repeated(of: Int, text: String) = Seq.fill(of)(text).mkString("[", ", ", "]")
    val levels                          = (1 to 9).map(i => s"  s$i: {a: &l$i ${repeated(10, s"*l${i - 1}")}}\n")
    assert(message(s"$head  s0: {a: &l0 ${repeated(10, "t")}}\n${levels.mkString}").contains("not a text"))
    val itself = s"$head  s0: &s {a: *s}\n"
    assert(message(itself).contains("line 4: 'streams.s0.a' is invalid: not a list"))
    val topics = (0 until 1000).map(i => s"t$i").mkString("[", ", ", "]")
    val many   = (1 to 1000).map(i => s"  s$i: *s\n").mkString
    assert(
      message(s"$head  s0: &s {a: $topics}\n$many").contains(s"more than ${DocumentLimits.Values} names and values")
    )
  }

  test("the characters of aliases count, and a property has a maximum length") {
    def rack(length: Int, clusters: Int) = message(DocumentBombs.property("client.rack", "r" * length, clusters))
    assert(rack(CostlyValues.Short, 200) == "accepted")
    assert(rack(CostlyValues.Short, 300).contains(s"more than ${MetadataText.Longest} characters"))
    assert(rack(CostlyValues.Short + 1, 1).contains(s"The maximum is ${CostlyValues.Short}"))
    def key(length: Int) = message(
      "version: 1\nclusters:\n  c0:\n    bootstrapServers: 'a:1'\n    properties:\n      ssl.key.password: |\n" +
        s"        ${"$"}{file:/a:\n" + "        k\n" * (length / 2) + "        }\nstreams: {}\n"
    )
    assert(key(CostlyValues.Longest - 100).contains("No provider 'file' is configured"))
    assert(key(CostlyValues.Longest).contains(s"The maximum is ${CostlyValues.Longest}"))
  }

  test("no property needs a time that grows with the square of its length") {
    val open  = "$" + "{"
    val parts =
      Seq(s"$open:", s"${open}a:", open, s"${open}a:b}", s"$open}", "://:", "http://?sig", "/*", "a=", "-", "a ")
    val texts = parts.flatMap { part =>
      val text = part * ((CostlyValues.Longest - 200) / part.length)
      Seq(text, s"${open}a:$text", text.dropRight(1) + "}")
    }
    val keys = Seq("client.rack", "sasl.jaas.config", "ssl.key.password", "ssl.truststore.certificates")
    val all  = Future(for { key <- keys; text <- texts; any <- Seq(false, true) } {
      val found = DocumentBombs.rejection(DocumentBombs.property(key, text, 1), any).fold("accepted")(_.getMessage)
      assert(found.contains(s"properties.$key") || found == "accepted", found.take(200))
    })(ExecutionContext.global)
    Await.result(all, 60.seconds)
  }

  test("values for which a client needs minutes are rejected") {
    def servers(gap: Int) =
      message(s"version: 1\nclusters: {a: {bootstrapServers: 'a:1,${" " * gap}b:1'}}\nstreams: {}\n")
    assert(servers(256) == "accepted" && servers(257).contains("more than 256 spaces"))
    assert(chain("-" * 65).contains("more than 64 dashes") &&
      chain("a" + " " * 17 + "b").contains("more than 16 spaces"))
    assert(chain("-" * 64).contains("a literal secret"))
  }

  private def chain(value: String): String = message(
    "version: 1\nclusters:\n  c0:\n    bootstrapServers: 'a:1'\n    properties:\n      ssl.truststore.certificates: |2\n" +
      value.linesIterator.map(line => s"        $line\n").mkString + "streams: {}\n"
  )

  private def block(content: String, label: String = "CERTIFICATE") =
    s"-----BEGIN $label-----\n$content\n-----END $label-----\n"

  test("a certificate that Kafka's parser may match in several ways is rejected") {
    val header    = "a:b\n"
    val empty     = "-----BEGIN X----- -----END X----- "
    val malformed = Seq(
      block(header * 3 + "QUJD"),
      block(header * 3000 + "QUJD"),
      block("a:b:c\nQUJD"),
      block("QUJD!"),
      block("QUJD\na:b"),
      block("QUJD").trim + block("QUJD"),
      block("QUJD").replace("END CERTIFICATE", "END PRIVATE KEY"),
      "-----BEGIN CERTIFICATE-----\nQUJD\n",
      "-----END CERTIFICATE-----\n" + "-" + block("QUJD"),
      empty * 1000,
      s"${empty}CERTIFICATE-\n" + header * 1000,
      s"-----BEGIN X----- ${"CERTIFICATE" * 1000} -----END X-----",
      block("QUJD").replace("ATE-----\nQUJD", "ATE----- a:CERTIFICATE-\nQUJD"),
      block("QUJD").trim + "CERTIFICATE" * 1000,
      block(s"a:-BEGIN${"CERTIFICATE" * 14}-${" " * 15}\nb:c\nQUJD", "X"),
      block("a-BEGIN:CERTIFICATE\nQUJD", "X")
    )
    malformed.foreach(value => assert(chain(value).contains("a certificate or key is malformed"), value.take(100)))
  }

  test("Kafka's parser reads the longest accepted certificates at once, with a small stack") {
    def fill(text: String) = text * ((CostlyValues.Longest - 300) / text.length)
    val gap                = "\n" * 16
    val texts              = Seq(
      fill(block("Proc-Type: 4\nDEK-Info: 5\n\nQUJD")),
      fill(block("QUJD") + gap.drop(1)),
      fill(block(s"${" " * 15}${"A" * 64}:b\n${"B" * 64}:c\n${gap.drop(2)}QUJD${gap.drop(1)}") + gap.drop(1)),
      block(fill("QUJD")),
      block(fill(s"Q$gap") + "Q"),
      block(fill("Q ")),
      fill("# Subject: CN=a:b:c\n") + block("QUJD"),
      fill("-" * 64 + gap) + block("QUJD"),
      fill("- BEGIN CERTIFICATE: a:b\n"),
      fill(block("QUJD", "PRIVATE KEY")),
      fill(block("QUJD", "CERTIFICATE CERTIFICATE" + " " * 16)),
      fill(block("QUJD", " " * 15 + "PRIVATE" + " " * 16)),
      fill("-----END CERTIFICATE " + gap.drop(1)),
      block("QUJD") + fill("CERTIFICATE-a:b "),
      block("QUJD") + fill("CERTIFICATE-a:b\n")
    )
    val parsed = Promise[Int]()
    val parse  = new Runnable {
      override def run(): Unit = parsed.complete(Try(texts.count { text =>
        assert(chain(text).contains("a literal secret"), text.take(100))
        val properties = Map[String, AnyRef](
          "ssl.truststore.type"         -> "PEM",
          "ssl.truststore.certificates" -> new Password(text),
          "ssl.protocol"                -> "TLSv1.3",
          "ssl.enabled.protocols"       -> JList.of("TLSv1.3"),
          "ssl.cipher.suites"           -> JList.of()
        )
        // No text is a certificate. An exhausted stack is not an exception.
        intercept[KafkaException](Using.resource(new DefaultSslEngineFactory)(_.configure(properties.asJava)))
        true
      }))
    }
    new Thread(Thread.currentThread.getThreadGroup, parse, "parser", 512L * 1024).start()
    assert(Await.result(parsed.future, 60.seconds) == texts.size)
  }

  test("names with equal hash codes, and one long text, are read at once") {
    val names = (0 until 17).foldLeft(Seq(""))((all, _) => all.flatMap(name => Seq(name + "Aa", name + "BB")))
    def topics(suffix: String) = names.take(100000).map(name => s"  ? $name$suffix\n  : {a: [t]}\n").mkString
    val head                   = "version: 1\nclusters: {a: {bootstrapServers: 'a:1'}}\nstreams:\n"
    val long                   = DocumentBombs.documents.filter(_._1.startsWith("one long"))
    val all                    = Future {
      assert(message(head + topics("")).contains("more than 250000 names and values"))
      assert(message(head + names.take(40000).map(name => s"  $name: {a: [t]}\n").mkString) == "accepted")
      long.foreach { case (name, text) => assert(message(text()).contains("the line has more than"), name) }
      val json = names.take(40000).map(name => s"\"$name\": {\"a\": [\"t\"]}").mkString(", ")
      assert(
        message(s"{\"version\": 1, \"clusters\": {\"a\": {\"bootstrapServers\": \"a:1\"}}, \"streams\": {$json}}") ==
          "accepted"
      )
    }(ExecutionContext.global)
    Await.result(all, 60.seconds)
  }

  test("the name of a stream has a maximum length") {
    def named(length: Int) = message(
      s"version: 1\nclusters: {a: {bootstrapServers: 'a:1'}}\nstreams:\n  ? ${"s" * length}\n  : {a: [t]}\n"
    )
    assert(named(MetadataDocument.LongestStream) == "accepted")
    assert(named(MetadataDocument.LongestStream + 1).contains("at most 249 characters"))
  }

  test("no document exhausts the memory of a JVM with a heap of 256 MiB") {
    val program = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val limits  = Seq("-Xmx256m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError")
    val classes = Seq("-cp", System.getProperty("java.class.path"))
    val output  = Files.createTempFile("document-bombs", ".log")
    val process =
      new ProcessBuilder(((program +: limits) ++ classes :+
        "splice.kafka.dynamic.internal.metadata.DocumentBombs").asJava)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile)
        .start()
    try {
      assert(process.waitFor(120, TimeUnit.SECONDS), s"the process does not end: ${Files.readString(output)}")
      assert(process.exitValue == 0, Files.readString(output))
    } finally {
      process.destroyForcibly()
      Files.delete(output)
    }
  }
}
