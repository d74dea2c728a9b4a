// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import splice.source._

/** The sources that a checkpoint belongs to: entries `chain-<n>`, of which the last one holds. */
private[splice] object ChainLog {

  private val Prefix = "chain"

  private val logger = LoggerFactory.getLogger(ChainLog.getClass)

  /** Stores the source's legs at the first start of a checkpoint. Each later start needs equal ones, with two exceptions: a leg may be added
    * behind the last one that has begun, and a leg that has ended is compared by its name and kind only.
    *
    * @throws SpliceException
    *   that names the first difference, or the entry if Spark's log has offsets and the side log has no entry
    */
  def check(log: SideLog, source: Source[_ <: Position], batches: OffsetLog): Unit = {
    val now     = source.legs(log)
    val entries = new NumberedEntries(log, Prefix)(read)
    val before  = entries.numbers.lastOption.map(entries(_)).getOrElse {
      batches.latest().foreach(takeOver(source, _))
      entries.append(write(now))
    }
    difference(before, now, source).foreach(found => throw CheckpointErrors.changed(found))
    if (before.map(leg => leg.name -> leg.source) != now.map(leg => leg.name -> leg.source)) {
      val known = before.map(leg => leg.name -> leg.identity).toMap
      val _     = entries.append(write(now.map(leg => leg.copy(identity = leg.identity.orElse(known(leg.name))))))
    }
  }

  private def takeOver(source: Source[_ <: Position], offset: String): Unit = {
    val first = NumberedEntries.key(Prefix, 0)
    if (!source.takesOver(source.position(offset)))
      throw CheckpointErrors.missingEntry(s"Side-log entry $first")
    logger.warn(
      s"The checkpoint has offsets and no side-log entry $first, so source ${source.kind} takes it over from Spark's own source at " +
        s"$offset. If Splice wrote these offsets, the side log was removed: stop the query and restore the folder sources/ from a copy."
    )
  }

  private def write(legs: Seq[LegIdentity]): Seq[String] = VersionedEntry.write(
    "legs" -> Json.array(legs.map { leg =>
      val identity = Json.obj(leg.identity.toSeq.flatten.map { case (key, value) => key -> Json.text(value) }: _*)
      Json.obj(
        Seq("identity" -> identity) ++ leg.name.map("name" -> Json.text(_)) :+ ("source" -> Json.text(leg.source)): _*
      )
    })
  )

  private def read(entry: VersionedEntry): Seq[LegIdentity] = Json.items(entry("legs")).map { leg =>
    def text(field: String)  = Json.field(leg, field).filter(_.isTextual).map(_.asText)
    def texts(one: JsonNode) = SortedMap.from(Json.fields(one).map { case (key, value) => key -> value.asText })
    val identity             = Json.field(leg, "identity").filter(_.isObject).map(texts)
    (text("source"), identity) match {
      case (Some(source), Some(known)) => LegIdentity(text("name"), source, Some(known))
      case _                           => entry.corrupt(s"'${Json.write(leg)}' is not a leg")
    }
  }

  private def difference(
      before: Seq[LegIdentity],
      now: Seq[LegIdentity],
      source: Source[_ <: Position]
  ): Option[String] = {
    val (were, are) = (before.map(_.name), now.map(_.name))
    val known       = were.toSet
    // An added leg before one that has begun would never be read.
    val behind  = now.dropWhile(leg => known(leg.name)).filter(leg => known(leg.name))
    val isAdded = are.filter(known) == were && !behind.exists(leg => leg.begun || were.headOption.contains(leg.name))
    if (!isAdded) Some(changed("legs", Some(shown(were)), Some(shown(are))))
    else before.zip(now.filter(leg => known(leg.name))).flatMap { case (was, is) =>
      difference(was, is, source)
    }.headOption
  }

  private def difference(was: LegIdentity, is: LegIdentity, source: Source[_ <: Position]): Option[String] = {
    def named(key: String) = was.name.fold(key)(leg => s"$leg.$key")
    val continued          = was.source == is.source || (is.name.isEmpty && source.continues(was.source))
    if (!continued) Some(changed(named("source"), Some(was.source), Some(is.source)))
    else
      for {
        before <- was.identity
        now    <- is.identity
        key    <- (before.keySet ++ now.keySet).find(key => before.get(key) != now.get(key))
      } yield changed(named(key), before.get(key), now.get(key))
  }

  private def changed(key: String, was: Option[String], is: Option[String]): String = {
    def text(value: Option[String]) = value.fold("not set")(v => s"'$v'")
    s"$key was ${text(was)} and is ${text(is)} now"
  }

  private def shown(names: Seq[Option[String]]): String =
    if (names.flatten.isEmpty) "none" else names.flatten.mkString(",")
}
