// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.{CheckpointErrors, Json}

/** One switch as the side log holds it.
  *
  * @param leg
  *   the leg that began
  * @param end
  *   where the leg before ended, as its source writes it
  * @param start
  *   where this one began, as its source writes it
  */
final private[splice] case class Switch(leg: String, end: String, start: String) {

  def lines: Seq[String] = Seq(
    Json.write(Json.obj("leg" -> Json.text(leg), "v" -> Json.number(Switch.Version.toLong))),
    end,
    start
  )
}

private[splice] object Switch {

  val Version = 1

  /** @throws splice.source.SpliceException when the lines are damaged, or of a newer version */
  def read(key: String, lines: Seq[String]): Switch = {
    val what = s"Side-log entry $key"
    lines match {
      case Seq(head, end, start) => Switch(VersionedHead.read(what, head, Version, "leg").head, end, start)
      case _                     => throw CheckpointErrors.corrupt(what, s"it has ${lines.size} lines and not three")
    }
  }
}
