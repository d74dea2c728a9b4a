// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import com.fasterxml.jackson.databind.JsonNode

import splice.source.errors.{CheckpointErrors, SpliceException}

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
