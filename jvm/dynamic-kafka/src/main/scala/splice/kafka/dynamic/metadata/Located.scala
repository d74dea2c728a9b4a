// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

import java.io.StringReader

import scala.jdk.CollectionConverters._

import org.yaml.snakeyaml.constructor.SafeConstructor
import org.yaml.snakeyaml.error.{MarkedYAMLException, YAMLException}
import org.yaml.snakeyaml.nodes.{MappingNode, Node, NodeTuple, ScalarNode, SequenceNode, Tag}
import org.yaml.snakeyaml.{LoaderOptions, Yaml}

import splice.source.Json

/** A value of a YAML or JSON document that knows its line, so that what is wrong with it can be said exactly.
  *
  * @param path
  *   where it stands, as in `streams.orders`; empty for the document
  */
final private[metadata] class Located(document: String, val path: String, node: Node) {

  /** Counted from 1. */
  val line: Int = node.getStartMark.getLine + 1

  def wrong(what: String): Nothing = throw MetadataErrors.invalid(document, line, path, what)

  /** The fields of an object in their order, each name once. */
  def fields: Seq[(String, Located)] = node match {
    case mapping: MappingNode =>
      val all = mapping.getValue.asScala.toSeq.map(field)
      all.groupBy(_._1).collectFirst {
        case (name, many) if many.size > 1 => many(1)._2.wrong(s"'$name' is there twice")
      }
      all
    case _ if isNull => Nil
    case _           => wrong("it is not an object")
  }

  /** The fields of an object that may have these and no others. */
  def only(names: String*): Map[String, Located] = {
    val all = fields
    all.find(f => !names.contains(f._1)).foreach { case (name, value) =>
      value.wrong(s"nothing is known of '$name'; known are ${names.mkString(", ")}")
    }
    all.filterNot(_._2.isNull).toMap
  }

  def items: Seq[Located] = node match {
    case list: SequenceNode => list.getValue.asScala.toSeq.zipWithIndex.map { case (item, i) =>
        new Located(document, s"$path[$i]", item)
      }
    case _ if isNull => Nil
    case _           => wrong("it is not a list")
  }

  /** A text, a number or a word such as true, as it is written. */
  def text: String = node match {
    case scalar: ScalarNode if scalar.getTag != Tag.NULL && scalar.getValue.trim.nonEmpty => scalar.getValue.trim
    case _                                                                                => wrong("it is not a text")
  }

  def number: Long = text.toLongOption.filter(_ >= 0).getOrElse(wrong(s"'$text' is not a whole number from 0 on"))

  def bool: Boolean = text.toBooleanOption.getOrElse(wrong(s"'$text' is neither true nor false"))

  private def isNull: Boolean = node.getTag == Tag.NULL

  private def field(tuple: NodeTuple): (String, Located) = {
    val name = tuple.getKeyNode match {
      case scalar: ScalarNode => scalar.getValue
      case other              => new Located(document, path, other).wrong("a name is not a text")
    }
    name -> new Located(document, if (path.isEmpty) name else s"$path.$name", tuple.getValueNode)
  }
}

private[metadata] object Located {

  /** @throws splice.source.SpliceException when the text is neither YAML nor JSON, or too long */
  def parse(document: String, text: String): Located = {
    def invalid(line: Int, what: String) = MetadataErrors.invalid(document, line, "", what)
    val options                          = new LoaderOptions
    options.setCodePointLimit(MetadataText.Longest)
    if (text.length > MetadataText.Longest) throw MetadataText.tooLong(document)
    try
      Option(new Yaml(new SafeConstructor(options)).compose(new StringReader(spaced(text))))
        .map(new Located(document, "", _))
        .getOrElse(throw invalid(1, "it is empty"))
    catch {
      case e: MarkedYAMLException => throw invalid(Option(e.getProblemMark).fold(1)(_.getLine + 1), e.getProblem)
      case e: YAMLException       => throw invalid(1, e.getMessage)
    }
  }

  // YAML knows no tab between words, and JSON none within.
  private def spaced(text: String): String =
    if (text.contains('\t') && Json.read(text).nonEmpty) text.replace('\t', ' ') else text
}
