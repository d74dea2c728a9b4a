// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.{CheckpointErrors, Json}

/** The first line of a side-log entry: an object with a version `v`. */
private[splice] object VersionedHead {

  /** The texts of some fields.
    *
    * @throws splice.source.SpliceException
    *   when the line is damaged, or of a version newer than `known`
    */
  def read(what: String, line: String, known: Int, fields: String*): Seq[String] = {
    def corrupt(why: String) = CheckpointErrors.corrupt(what, why)
    val head    = Json.read(line).filter(_.isObject).getOrElse(throw corrupt(s"'$line' is not a JSON object"))
    val version = Json.field(head, "v").filter(_.isInt).getOrElse(throw corrupt("'v' is missing")).asInt
    if (version > known) throw CheckpointErrors.newer(what, version, known)
    fields.map(f => Json.field(head, f).filter(_.isTextual).getOrElse(throw corrupt(s"'$f' is missing")).asText)
  }
}
