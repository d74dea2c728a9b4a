// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}

/** JSON in the format of offsets and side-log entries: one line, no spaces, keys in the given order. */
private[splice] object Json {

  private val mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)

  private def nodes = JsonNodeFactory.instance

  def text(value: String): JsonNode = nodes.textNode(value)

  def number(value: Long): JsonNode = nodes.numberNode(value)

  def bool(value: Boolean): JsonNode = nodes.booleanNode(value)

  def array(values: Iterable[JsonNode]): JsonNode = nodes.arrayNode().addAll(values.toSeq.asJavaCollection)

  /** Creates an object with its keys in the given order. */
  def obj(fields: (String, JsonNode)*): ObjectNode = {
    val node = nodes.objectNode()
    fields.foreach { case (k, v) => node.set[JsonNode](k, v) }
    node
  }

  def write(node: JsonNode): String = mapper.writeValueAsString(node)

  /** Returns the JSON text of a string. */
  def quoted(value: String): String = write(text(value))

  /** Returns an object with these fields, whose values are JSON texts, in the given order. */
  def compose(fields: IterableOnce[(String, String)]): String =
    fields.iterator.map { case (key, value) => s"${quoted(key)}:$value" }.mkString("{", ",", "}")

  /** Parses a text. Returns None if the text is not exactly one JSON value. */
  def read(text: String): Option[JsonNode] = Try(mapper.readTree(text)).toOption.filterNot(_.isMissingNode)

  /** Parses a text. Returns None if the text is not exactly one JSON object. */
  def readObject(text: String): Option[JsonNode] = read(text).filter(_.isObject)

  /** Returns the fields of an object in their order. Empty for any other node. */
  def fields(node: JsonNode): Seq[(String, JsonNode)] = node.properties().asScala.toSeq.map(e => e.getKey -> e.getValue)

  def field(node: JsonNode, name: String): Option[JsonNode] = Option(node.get(name)).filterNot(_.isNull)

  def items(node: JsonNode): Seq[JsonNode] = node.elements().asScala.toSeq
}
