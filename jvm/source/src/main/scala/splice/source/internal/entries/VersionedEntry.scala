// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import com.fasterxml.jackson.databind.JsonNode

import splice.source.errors.{CheckpointErrors, SpliceException}

/** Lines of a side-log entry. The first line is the head: a JSON object with sorted keys and with the version `v` of
  * the entry's format.
  *
  * @param key
  *   key of the entry, for errors
  * @param lines
  *   lines after the head
  */
final private[splice] class VersionedEntry private (key: String, val head: JsonNode, val lines: Seq[String]) {

  def find(field: String): Option[JsonNode] = Json.field(head, field)

  /** Returns a field of the head.
    *
    * @throws SpliceException
    *   if the head does not have this field
    */
  def apply(field: String): JsonNode = find(field).getOrElse(corrupt(s"'$field' is missing"))

  def text(field: String): String =
    Some(apply(field)).filter(_.isTextual).map(_.asText).getOrElse(corrupt(s"'$field' is not a text"))

  def long(field: String): Long =
    Some(apply(field)).filter(_.isIntegralNumber).map(_.asLong).getOrElse(corrupt(s"'$field' is not a number"))

  /** The only line after the head.
    *
    * @throws SpliceException
    *   if the number of lines after the head is not 1
    */
  def line: String = lines match {
    case Seq(single) => single
    case _           => corrupt(s"the entry has ${lines.size + 1} lines instead of 2")
  }

  /** Each line after the head as JSON.
    *
    * @throws SpliceException
    *   if a line is not JSON
    */
  def nodes: Seq[JsonNode] = lines.map(l => Json.read(l).getOrElse(corrupt(s"'$l' is not JSON")))

  def corrupt(why: String): Nothing = throw CheckpointErrors.corrupt(VersionedEntry.name(key), why)
}

private[splice] object VersionedEntry {

  /** Returns the lines of an entry that has only a head. */
  def write(fields: (String, JsonNode)*): Seq[String] = write(fields, Nil)

  /** Returns the head, followed by the lines. */
  def write(fields: Seq[(String, JsonNode)], lines: Seq[String]): Seq[String] =
    Json.write(Json.obj((fields :+ VersionedJson.field).sortBy(_._1): _*)) +: lines

  /** @throws SpliceException if the head is damaged, or if a newer version of Splice wrote the entry */
  def read(key: String, lines: Seq[String]): VersionedEntry = {
    def corrupt(why: String) = CheckpointErrors.corrupt(name(key), why)
    val line                 = lines.headOption.getOrElse("")
    val head                 = Json.readObject(line).getOrElse(throw corrupt(s"'$line' is not a JSON object"))
    VersionedJson.check(head, name(key))(version => corrupt(version.fold("'v' is missing")(v => s"'v' is $v")))
    new VersionedEntry(key, head, lines.drop(1))
  }

  /** Name of an entry in errors. */
  private[entries] def name(key: String): String = s"Side-log entry $key"
}

/** JSON object with the version `v` of its format: an offset, or the head of a side-log entry. */
private[splice] object VersionedJson {

  /** Version of every format. */
  val Version = 1

  private val Key = "v"

  /** Field with the version. */
  def field: (String, JsonNode) = Key -> Json.number(Version.toLong)

  /** Returns an object with these fields, whose values are JSON texts, and with the version as the last field. */
  def write(fields: (String, String)*): String = Json.compose(fields :+ (Key -> Version.toString))

  /** True if the object has a version, which may be damaged. */
  def isVersioned(node: JsonNode): Boolean = node.has(Key)

  /** Checks that the JSON has the version of this format.
    *
    * @param what
    *   name of the JSON in the error of a newer version
    * @param other
    *   creates the error for JSON with another version, or None if the version is missing or not a number
    * @throws SpliceException
    *   if the JSON has another version
    */
  def check(node: JsonNode, what: String)(other: Option[Int] => SpliceException): Unit = {
    val version = Json.field(node, Key).filter(_.isInt).map(_.asInt)
    version.filter(_ > Version).foreach(newer => throw CheckpointErrors.newer(what, newer, Version))
    if (!version.contains(Version)) throw other(version)
  }
}
