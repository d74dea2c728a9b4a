// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import splice.source.{CheckpointErrors, Json, Position, SideLog, Source}

/** Holds a checkpoint to the source that began it. */
private[splice] object Fingerprint {

  private val Key = "chain"

  /** Writes the source's fingerprint down at the first start; later starts must bring the same.
    *
    * @throws splice.source.SpliceException
    *   that names the first difference
    */
  def check(log: SideLog, source: Source[_ <: Position]): Unit = {
    val now    = source.fingerprint
    val before = log.getOrCreate(Key)(now.map { case (k, v) =>
      Json.write(Json.array(Seq(Json.text(k), Json.text(v))))
    })
    if (!source.mayChange) difference(read(before), now).foreach(d => throw CheckpointErrors.changed(d))
  }

  private def read(lines: Seq[String]): Seq[(String, String)] = lines.filter(_.nonEmpty).map { line =>
    Json.read(line).map(Json.items) match {
      case Some(Seq(key, value)) => key.asText -> value.asText
      case _                     => throw CheckpointErrors.corrupt(s"side-log entry $Key", s"'$line' is not a pair")
    }
  }

  private def difference(before: Seq[(String, String)], now: Seq[(String, String)]): Option[String] =
    before.zipAll(now, ("", ""), ("", "")).collectFirst {
      case ((k, v), ("", ""))                             => s"$k was '$v' and is not there any more"
      case (("", ""), (k, v))                             => s"$k is '$v' and was not there before"
      case ((k, was), (key, is)) if k == key && was != is => s"$k was '$was' and is '$is' now"
      case ((k, was), (key, is)) if k != key              => s"'$k' ($was) was where '$key' ($is) is now"
    }
}
