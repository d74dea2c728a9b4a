// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.SideLog
import splice.source.{Position, Source}

/** The legs that a checkpoint belongs to, in entries `chain-<n>`. The last entry is in force. */
private[splice] object ChainEntries {

  private val Prefix = "chain"

  // Former names of sources, which entries of earlier commits of Splice contain.
  private val Former = Map("dynamic-kafka" -> "dynamicKafka")

  private val logger = LoggerFactory.getLogger(ChainEntries.getClass)

  /** Stores the legs of the source at the first start of a checkpoint. Each later start must have legs that
    * [[ChainChange]] allows. New legs are stored after `verify`, because a stored leg keeps its identity: a user could
    * not correct a wrong path.
    *
    * @param verify
    *   checks the source, and fails if the options of a leg are wrong. Receives the names of the stored legs
    * @throws SpliceException
    *   if a difference is not allowed; the message names the first difference. Also if Spark's offset log has offsets,
    *   the side log has no entry, and the source cannot take the checkpoint over
    */
  def check(
      log: SideLog,
      source: Source[_ <: Position],
      batches: OffsetLog,
      verify: Set[String] => Unit = _ => ()
  ): Unit = {
    val now     = source.legs(log)
    val entries = new NumberedEntries(log, Prefix)(read)
    val stored  = entries.numbers.lastOption.map(entries(_))
    if (stored.isEmpty) batches.latest().foreach(takeOver(source, _))
    stored.foreach(requireAllowed(_, now, source))
    verify(stored.toSeq.flatten.flatMap(_.name).toSet)
    val before = stored.getOrElse {
      val first = entries.append(write(now))
      // Another driver may have stored its legs first.
      requireAllowed(first, now, source)
      first
    }
    val merged = change(before, now, source).merged
    if (shape(before) != shape(merged)) { val _ = entries.append(write(merged)) }
  }

  private def change(before: Seq[LegIdentity], now: Seq[LegIdentity], source: Source[_ <: Position]) =
    new ChainChange(before, now, source.continues(_))

  private def requireAllowed(before: Seq[LegIdentity], now: Seq[LegIdentity], source: Source[_ <: Position]): Unit =
    change(before, now, source).difference.foreach(difference => throw CheckpointErrors.changed(difference))

  /** Returns the legs in force, or None if the side log has no entry. */
  def stored(log: SideLog): Option[Seq[LegIdentity]] = {
    val entries = new NumberedEntries(log, Prefix)(read)
    entries.numbers.lastOption.map(entries(_))
  }

  private def shape(legs: Seq[LegIdentity]) = legs.map(leg => (leg.name, leg.source, leg.removed))

  private def takeOver(source: Source[_ <: Position], offset: String): Unit = {
    val first = NumberedEntries.key(Prefix, 0)
    if (!source.takesOver(source.position(offset)))
      throw CheckpointErrors.missingEntry(s"Side-log entry $first")
    logger.warn(
      s"The checkpoint has offsets and no side-log entry $first, so source ${source.kind} continues the checkpoint of Spark's source at " +
        s"$offset. If Splice wrote these offsets, the side log was removed: stop the query and restore the folder sources/ from a copy."
    )
  }

  private def write(legs: Seq[LegIdentity]): Seq[String] = VersionedEntry.write(
    "legs" -> Json.array(legs.map { leg =>
      val identity = Json.obj(leg.identity.toSeq.flatten.map { case (key, value) => key -> Json.text(value) }: _*)
      val name     = leg.name.map("name" -> Json.text(_))
      val removed  = Option.when(leg.removed)("removed" -> Json.bool(true))
      Json.obj(Seq("identity" -> identity) ++ name ++ removed :+ ("source" -> Json.text(leg.source)): _*)
    })
  )

  private def read(entry: VersionedEntry): Seq[LegIdentity] = Json.items(entry("legs")).map { leg =>
    def text(field: String)   = Json.field(leg, field).filter(_.isTextual).map(_.asText)
    def texts(node: JsonNode) = SortedMap.from(Json.fields(node).map { case (key, value) => key -> value.asText })
    val identity              = Json.field(leg, "identity").filter(_.isObject).map(texts)
    (text("source"), identity) match {
      case (Some(source), Some(known)) =>
        LegIdentity(
          text("name"),
          Former.getOrElse(source, source),
          Some(known),
          removed = Json.field(leg, "removed").exists(_.asBoolean)
        )
      case _ => entry.corrupt(s"'${Json.write(leg)}' is not a leg")
    }
  }
}
