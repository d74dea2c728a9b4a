// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import splice.kafka.dynamic.internal.document.{DocumentProperties, MetadataDocument, MetadataText}
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions

/** Program that reads documents with a large memory footprint after parsing. The program fails unless each document
  * is rejected and the largest valid document is read.
  */
object DocumentBombs {

  private val rules =
    new DocumentProperties(any = false, SourceOptions(Map.empty))

  private val all =
    new DocumentProperties(any = true, SourceOptions(Map.empty))

  private val head = "version: 1\nclusters: {a: {bootstrapServers: \"a:9092\"}}\n"

  private def filled(head: String, part: String, tail: String = ""): String =
    head + part * ((MetadataText.Longest - head.length - tail.length) / part.length) + tail

  /** Lazily created texts by name. */
  def documents: Seq[(String, () => String)] = Seq(
    "a list of letters"                  -> (() => filled("", "- a\n")),
    "topics of one letter"               -> (() => filled(s"${head}streams: {s: {a: [t", ",t", "]}}\n")),
    "objects"                            -> (() => filled("", "- {}\n")),
    "JSON with tabs"                     -> (() => filled("[\t1", ",1", "]")),
    "JSON objects with tabs"             -> (() => filled("[\t{}", ",{}", "]")),
    "nested lists"                       -> (() => filled("", "[")),
    "nested objects"                     -> (() => filled("", "{a: ")),
    "nested JSON with tabs"              -> (() => filled("\t", "[")),
    "nested blocks"                      -> (() => filled("", "- ")),
    "nested keys"                        -> (() => filled("", "? ")),
    "aliases of many values"             -> (() => aliases),
    "a long property of clusters"        -> (() => property("client.rack", "r" * 30000, 300)),
    "a property of many clusters"        -> (() => property("client.rack", "r" * 4000, 3000)),
    "one long comment"                   -> (() => filled("#", "-")),
    "one long run of spaces"             -> (() => filled("a:", " ", "b")),
    "one long comment with commas"       -> (() => filled("#", "-,")),
    "one long text with commas"          -> (() => filled("a: ", "x,")),
    "one long quoted text with commas"   -> (() => filled("a: \"", "x,", "\"")),
    "one long text with quotation marks" -> (() => filled("a: x", "'")),
    "one long text in JSON"              -> (() => filled("{\"a\": \"", "x,", "\"}")),
    "one long gap in JSON"               -> (() => filled("{\"a\":", " ", "1}")),
    "a long name of many values" -> (() => s"${head}streams: {? ${"n" * 4000000} : {a: [t${",t" * 400000}]}}\n"),
    "more bytes"                 -> (() => "#" * (MetadataText.Longest + 1))
  )

  /** Document in which all clusters have the same property by an alias. */
  def property(key: String, value: String, clusters: Int): String = {
    val aliases = (1 until clusters).map(i => s"  c$i: {bootstrapServers: 'a:1', properties: *p}\n").mkString
    val streams = (0 until clusters).map(i => s"c$i: [t]").mkString("{s: {", ", ", "}}\n")
    s"""version: 1
       |clusters:
       |  c0: {bootstrapServers: 'a:1', properties: &p {? $key : "$value"}}
       |${aliases}streams: $streams""".stripMargin
  }

  // The text has 25 streams on 40 clusters with 1,000 topics each.
  private def aliases: String = {
    val clusters = (0 until 40).map(i => s"c$i: {bootstrapServers: \"a:1\"}").mkString("{", ", ", "}")
    val topics   = (0 until 1000).map(i => s"topic-$i").mkString("&t [", ", ", "]")
    val stream   = (1 until 25).map(i => s"c$i: *t").mkString(s"&s {c0: $topics, ", ", ", "}")
    s"version: 1\nclusters: $clusters\nstreams: {s0: $stream, ${(1 until 25).map(i => s"s$i: *s").mkString(", ")}}\n"
  }

  /** Document of 8 MiB with 1,200 streams of 200 topics each. */
  private def largest: String = {
    def topics(s: Int) = (0 until 200).map(t => f"topic-of-some-length-$s%05d-$t%05d").mkString("[", ",", "]")
    (0 until 1200).map(s => s"  s$s: {a: ${topics(s)}}\n").mkString(s"${head}streams:\n", "", "")
  }

  /** Error that rejects a document; None if the document is accepted. */
  def rejection(text: String, any: Boolean = false): Option[SpliceException] =
    try {
      MetadataDocument.read("streams.yaml", text, if (any) all else rules)
      None
    } catch { case e: SpliceException => Some(e) }

  def main(arguments: Array[String]): Unit = {
    val accepted = documents.flatMap { case (name, text) =>
      val found = rejection(text(), any = true)
      println(s"$name: ${found.fold("accepted")(_.getMessage)}")
      Option.unless(found.exists(_.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT"))(name)
    }
    // During a change, the previous metadata stays in memory while the next document is read.
    val text = largest
    val kept = (1 to 2).map(_ => MetadataDocument.read("streams.yaml", text, rules))
    val read = kept.map(_.streams.valuesIterator.map(_.topics("a").size).sum)
    println(s"the largest document: ${text.length} characters, $read topics")
    sys.exit(if (accepted.isEmpty && read == Seq(240000, 240000)) 0 else 1)
  }
}
