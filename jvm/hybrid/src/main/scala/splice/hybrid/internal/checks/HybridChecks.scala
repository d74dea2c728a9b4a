// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.checks

import scala.util.Try

import splice.hybrid.internal.chain.LegEnumerators
import splice.hybrid.internal.handover.SwitchFormat
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.checks.{CheckpointFinding, ChecksCheckpoint, StoredOffset, StoredSource}
import splice.source.internal.entries.{Json, VersionedJson}
import splice.source.internal.legs.LegIdentity

/** Checks the positions of a hybrid source in a checkpoint, the stored switches, and each leg by its kind. */
private[splice] object HybridChecks {

  private type Legs = Map[String, String]

  def isPosition(json: String): Boolean = Try(read(json)).isSuccess

  /** Returns the texts of the positions by leg. */
  private def read(json: String): Legs = {
    def foreign = CheckpointErrors.foreign(s"The offset $json", """{"legs":{"live":{...}},"v":1}""")
    val node    = Json.readObject(json).getOrElse(throw foreign)
    VersionedJson.check(node, "The offset")(_ => foreign)
    val legs = Json.field(node, "legs").filter(_.isObject).getOrElse(throw foreign)
    Json.fields(legs).map { case (name, position) => name -> Json.write(position) }.toMap
  }

  def apply(stored: StoredSource): Seq[CheckpointFinding] = {
    val (damaged, valid) = stored.offsets.partitionMap { offset =>
      try Right(offset -> read(offset.json))
      catch { case e: SpliceException => Left(CheckpointFinding.of(offset.file, e)) }
    }
    val next    = stored.next.flatMap(at => Try(read(at.json)).toOption.map(at -> _))
    val current = next.flatMap { case (_, legs) => stored.chain.flatMap(_.name).filter(legs.contains).lastOption }
    damaged ++ lost(valid) ++ stored.chain.zipWithIndex.flatMap { case (leg, index) =>
      val name = leg.name.getOrElse("")
      val of   = valid.collect { case (at, legs) if legs.contains(name) => StoredOffset(at.file, legs(name)) }
      if (of.isEmpty) Nil
      else {
        val switch = if (index == 0) Nil else switched(stored, name, valid)
        val start  = next.collect { case (at, legs) if current.contains(name) => StoredOffset(at.file, legs(name)) }
        switch ++ ofLeg(stored, leg, name, begin(stored, name).toSeq ++ of, start)
      }
    }
  }

  private def ofLeg(
      stored: StoredSource,
      leg: LegIdentity,
      name: String,
      offsets: Seq[StoredOffset],
      next: Option[StoredOffset]
  ): Seq[CheckpointFinding] = ChecksCheckpoint.of(leg.source).toSeq.flatMap { checks =>
    val scope = LegEnumerators.scope(name)
    CheckpointFinding.caught(stored.file(scope))(
      checks.check(StoredSource(stored.file(scope), stored.log.scope(scope), Seq(leg), offsets, next, stored.kafka))
    ).map(found => found.copy(what = s"Leg '$name': ${found.what}"))
  }

  /** Returns one finding per leg that a later position does not have. */
  private def lost(offsets: Seq[(StoredOffset, Legs)]): Seq[CheckpointFinding] =
    offsets.zip(offsets.drop(1)).flatMap { case ((before, from), (after, until)) =>
      (from.keySet -- until.keySet).toSeq.sorted.map { leg =>
        CheckpointFinding(
          after.file,
          s"Leg '$leg' is in ${before.file} and not in ${after.file}.",
          "Restore both files from a copy of the checkpoint."
        )
      }
    }

  private def entry(stored: StoredSource, leg: String) =
    SwitchFormat.entries(stored.log.scope(LegEnumerators.scope(leg))).find(0)

  /** Returns the start of a leg that its switch stores. */
  private def begin(stored: StoredSource, leg: String): Option[StoredOffset] =
    Try(entry(stored, leg)).toOption.flatten.flatMap(_.lines.lift(1)).map(StoredOffset(file(stored, leg), _))

  /** Checks that the switch to a leg is stored, and that the previous leg has not moved since. */
  private def switched(stored: StoredSource, leg: String, offsets: Seq[(StoredOffset, Legs)]) =
    CheckpointFinding.caught(file(stored, leg)) {
      entry(stored, leg).fold(
        Seq(CheckpointFinding.missing(file(stored, leg), s"Leg '$leg' has begun, and the entry contains its start."))
      ) { switch =>
        val before = SwitchFormat.after(switch)
        offsets.collectFirst {
          case (at, legs) if legs.contains(leg) && legs.get(before) != switch.lines.headOption =>
            CheckpointFinding(
              at.file,
              s"Leg '$before' is at ${legs.getOrElse(before, "no position")}, and ${file(stored, leg)} has its end " +
                s"${switch.lines.headOption.getOrElse("")}.",
              "Restore the file from a copy of the checkpoint."
            )
        }.toSeq
      }
    }

  private def file(stored: StoredSource, leg: String): String =
    stored.file(s"${LegEnumerators.scope(leg)}/${SwitchFormat.Prefix}-00000000")
}
