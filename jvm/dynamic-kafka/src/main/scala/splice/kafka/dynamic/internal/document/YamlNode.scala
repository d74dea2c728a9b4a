// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import scala.jdk.CollectionConverters._

import org.yaml.snakeyaml.LoaderOptions
import org.yaml.snakeyaml.composer.Composer
import org.yaml.snakeyaml.error.{MarkedYAMLException, YAMLException}
import org.yaml.snakeyaml.nodes.{MappingNode, Node, NodeTuple, ScalarNode, SequenceNode, Tag}
import org.yaml.snakeyaml.parser.ParserImpl
import org.yaml.snakeyaml.reader.StreamReader
import org.yaml.snakeyaml.resolver.Resolver

import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.source.internal.Secrets

/** Value of a YAML or JSON document with its line, so that errors can name the exact location.
  *
  * @param path
  *   path of the value, such as `streams.orders`; empty for the document. Evaluated only for errors, because many
  *   values may share a long name
  */
final private[splice] class YamlNode(document: String, path: => String, node: Node, limits: DocumentLimits) {

  /** Line number, from 1. */
  val line: Int = node.getStartMark.getLine + 1

  // An alias is one node of the parser, but counts as all values and characters of its anchor.
  limits.count(line)
  node match {
    case scalar: ScalarNode => limits.characters(line, scalar.getValue.length)
    case _                  => ()
  }

  def wrong(reason: String): Nothing = throw MetadataErrors.invalid(document, line, path, reason)

  /** Returns the fields of an object in order, then the fields of its merge keys that the object does not set. Each name
    * occurs once.
    */
  def fields: Seq[(String, YamlNode)] = node match {
    case mapping: MappingNode =>
      val (merges, own) = mapping.getValue.asScala.toSeq.partition(_.getKeyNode.getTag == Tag.MERGE)
      val all           = own.map(field)
      // Java's set has a bound for names with equal hash codes.
      val names = new java.util.HashSet[String]
      all.find { case (name, _) => !names.add(name) }.foreach { case (name, value) =>
        value.wrong(s"'${YamlNode.shown(name)}' is set twice")
      }
      all ++ merges.flatMap(merge => merged(merge.getValueNode)).filter { case (name, _) => names.add(name) }
    case _ if isNull => Nil
    case _           => wrong("not an object")
  }

  // The fields of the first object of a list have precedence.
  private def merged(of: Node): Seq[(String, YamlNode)] = {
    val value = new YamlNode(document, path, of, limits)
    limits.enter(line)
    try of match {
        case list: SequenceNode                      => list.getValue.asScala.toSeq.flatMap(merged)
        case mapping: MappingNode if mapping ne node => value.fields
        case _ => value.wrong("the value of '<<' is neither another object nor a list of objects")
      }
    finally limits.leave()
  }

  /** Returns the fields of an object, and rejects fields with other names. The document may have further fields whose
    * names begin with `x-`, for example to contain anchors.
    */
  def only(names: String*): Map[String, YamlNode] = {
    val all = fields.filterNot { case (name, _) => path.isEmpty && name.startsWith("x-") }
    all.find(f => !names.contains(f._1)).foreach { case (name, value) =>
      value.wrong(s"the field '${YamlNode.shown(name)}' does not exist. Use ${names.mkString(", ")}")
    }
    all.filterNot(_._2.isNull).toMap
  }

  /** True for a name without a value. */
  def isNull: Boolean = node.getTag == Tag.NULL

  def isObject: Boolean = node match {
    case _: MappingNode => true
    case _              => false
  }

  def items: Seq[YamlNode] = node match {
    case list: SequenceNode => list.getValue.asScala.toSeq.zipWithIndex.map { case (item, i) =>
        new YamlNode(document, s"$path[$i]", item, limits)
      }
    case _ if isNull => Nil
    case _           => wrong("not a list")
  }

  /** Returns a text, a number or a word such as true, as it is written in the document. */
  def text: String = node match {
    case scalar: ScalarNode if scalar.getTag != Tag.NULL && scalar.getValue.trim.nonEmpty => scalar.getValue.trim
    case _                                                                                => wrong("not a text")
  }

  def number: Long = text.toLongOption.filter(_ >= 0).getOrElse(wrong(s"'$text' is not a whole number, 0 or more"))

  def bool: Boolean = text.toBooleanOption.getOrElse(wrong(s"'$text' is neither true nor false"))

  /** Returns the part of the document at a path of names of fields and texts of lists, or the nearest outer part. */
  def find(names: Seq[String]): YamlNode = names.headOption.flatMap { name =>
    val counted = new YamlNode(document, path, node, new DocumentLimits(document))
    node match {
      case _: MappingNode  => counted.fields.collectFirst { case (`name`, value) => value }
      case _: SequenceNode => counted.items.find(_.text == name)
      case _               => None
    }
  }.fold(this)(_.find(names.drop(1)))

  private def field(tuple: NodeTuple): (String, YamlNode) = {
    val name = tuple.getKeyNode match {
      case scalar: ScalarNode =>
        limits.characters(line, scalar.getValue.length)
        scalar.getValue
      case other => new YamlNode(document, path, other, limits).wrong("a name is not a text")
    }
    def at = if (path.isEmpty) YamlNode.shown(name) else s"$path.${YamlNode.shown(name)}"
    name -> new YamlNode(document, at, tuple.getValueNode, limits)
  }
}

private[splice] object YamlNode {

  /** Parses a document.
    *
    * @throws splice.source.errors.SpliceException
    *   if the text is neither YAML nor JSON, or exceeds [[DocumentLimits]]
    */
  def parse(document: String, text: String): YamlNode = {
    def invalid(line: Int, reason: String) = MetadataErrors.invalid(document, line, "", reason)
    val options                            = new LoaderOptions
    options.setCodePointLimit(MetadataText.Longest)
    // The composer does not expand an alias. The limits count the values of an alias before Splice reads the values.
    options.setMaxAliasesForCollections(Int.MaxValue)
    if (text.length > MetadataText.Longest) throw MetadataText.tooLong(document)
    MetadataText.overlong(text).foreach(line =>
      throw invalid(line, s"the line has more than ${MetadataText.Unbroken} characters. Write several lines, or JSON")
    )
    try
      Option(composer(document, plain(text), options).getSingleNode)
        .map(new YamlNode(document, "", _, new DocumentLimits(document)))
        .getOrElse(throw invalid(1, "the document is empty"))
    catch {
      case e: MarkedYAMLException =>
        throw invalid(Option(e.getProblemMark).fold(1)(_.getLine + 1), withoutName(e.getProblem))
      case e: YAMLException => throw invalid(1, e.getMessage)
    }
  }

  // These messages of the parser end with text of the document, which may be a part of a secret.
  private val named =
    ("(?s)(Global tag is not allowed|found undefined alias|found undefined tag handle|duplicate tag handle|" +
      "expected escape sequence of \\d+ hexadecimal numbers|found a number which cannot represent a valid version).*").r

  private def withoutName(problem: String): String = problem match {
    case named(start) => s"$start. Write a text that begins with '*', '&', '!' or '%', or contains '\\', in single " +
        "quotation marks"
    case other => other
  }

  /** Returns a name without a value that follows a colon without a space, or '='. YAML reads both as one name. */
  def shown(name: String): String = {
    val property = name.takeWhile(char => char != ':' && char != '=')
    if (property.length < name.length && Secrets.isSecret(property)) property else name
  }

  private def composer(document: String, text: String, options: LoaderOptions): Composer = {
    val parser = new ParserImpl(new StreamReader(text), options)
    new Composer(new LimitedParser(parser, new DocumentLimits(document)), new Resolver, options)
  }

  // YAML does not allow a tab between tokens, and JSON does not allow a tab in a string. The parser does not accept the
  // escape sequence of a slash, and JSON allows a backslash only in a string.
  private def plain(text: String): String =
    if ((text.contains('\t') || text.contains("\\/")) && MetadataText.isJson(text))
      text.replace('\t', ' ').replaceAll("""(\\[^/])|\\(/)""", "$1$2")
    else text
}
