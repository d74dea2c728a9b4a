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

  test("the characters of aliases count") {
    def rack(clusters: Int) =
      DocumentBombs.rejection(DocumentBombs.property("client.rack", "r" * 30000, clusters), any = true)
    assert(rack(200).isEmpty)
    assert(rack(300).exists(_.getMessage.contains(s"more than ${MetadataText.Longest} characters")))
  }

  test("addresses for which a client needs minutes, and references in addresses, are rejected") {
    def servers(text: String) = message(s"version: 1\nclusters: {a: {bootstrapServers: '$text'}}\nstreams: {}\n")
    val longest               = "a" * (DocumentProperties.LongestAddress - 2)
    Seq("a:1", "a:1, b:1 ,", s"$longest:1", "SSL://a:1,[::1]:9092", s"a:1,${" " * 100000}b:1").foreach(text =>
      assert(servers(text) == "accepted", text.take(100))
    )
    Seq(s"a$longest:1", s"a:1 ${" " * 100000}b:1", "a" * 500000, "$" + "{env:HOME}:1", "a b:1").foreach(text =>
      assert(servers(text).contains("line 2: 'clusters.a.bootstrapServers' is invalid: an address"), text.take(100))
    )
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
    assert(named(MetadataCheck.LongestStream) == "accepted")
    assert(named(MetadataCheck.LongestStream + 1).contains("at most 249 characters"))
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
