// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.nio.file.{Files, Paths}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._

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
    assert(rack(DocumentProperties.Longest, 20) == "accepted")
    assert(rack(DocumentProperties.Longest, 40).contains(s"more than ${MetadataText.Longest} characters"))
    assert(rack(DocumentProperties.Longest + 1, 1).contains(s"The maximum is ${DocumentProperties.Longest}"))
  }

  test("no property needs a time that grows with the square of its length") {
    val texts = Seq("$" + "{" + ":", "$" + "{a:", "$" + "{", "://:", "http://?sig", "/*", "a=").flatMap { part =>
      val text = part * (DocumentProperties.Longest / part.length)
      Seq(text, "$" + "{" + text.drop(2), text.dropRight(1) + "}")
    }
    val keys = Seq("client.rack", "sasl.jaas.config", "ssl.key.password", "security.protocol")
    val all  = Future(for { key <- keys; text <- texts } {
      val found = message(DocumentBombs.property(key, text.replace("\"", ""), 1))
      assert(found.contains(s"properties.$key") || found == "accepted", found.take(200))
    })(ExecutionContext.global)
    Await.result(all, 60.seconds)
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
