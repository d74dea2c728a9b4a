// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.source._

/** The sources that a checkpoint belongs to: entries `chain-<n>`, of which the last one holds. */
private[splice] object ChainLog {

  /** Stores the source's legs at the first start of a checkpoint. Each later start needs equal ones.
    *
    * @throws SpliceException
    *   that names the first difference
    */
  def check(log: SideLog, source: Source[_ <: Position]): Unit = {
    val now     = source.legs
    val entries = new NumberedEntries(log, "chain")(read)
    val before  = entries.numbers.lastOption.map(entries(_)).getOrElse(entries.append(write(now)))
    difference(before, now, source).foreach(found => throw CheckpointErrors.changed(found))
    if (before.map(_.source) != now.map(_.source)) { val _ = entries.append(write(now)) }
  }

  private def write(legs: Seq[LegIdentity]): Seq[String] = VersionedEntry.write(
    "legs" -> Json.array(legs.map { leg =>
      val identity = Json.obj(leg.identity.toSeq.map { case (key, value) => key -> Json.text(value) }: _*)
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
      case (Some(source), Some(known)) => LegIdentity(text("name"), source, known)
      case _                           => entry.corrupt(s"'${Json.write(leg)}' is not a leg")
    }
  }

  private def difference(
      before: Seq[LegIdentity],
      now: Seq[LegIdentity],
      source: Source[_ <: Position]
  ): Option[String] = {
    val (were, are) = (before.map(_.name), now.map(_.name))
    if (were != are) Some(changed("legs", Some(shown(were)), Some(shown(are))))
    else before.zip(now).flatMap { case (was, is) => difference(was, is, source) }.headOption
  }

  private def difference(was: LegIdentity, is: LegIdentity, source: Source[_ <: Position]): Option[String] = {
    def named(key: String) = was.name.fold(key)(leg => s"$leg.$key")
    val continued          = was.source == is.source || (is.name.isEmpty && source.continues(was.source))
    if (!continued) Some(changed(named("source"), Some(was.source), Some(is.source)))
    else
      (was.identity.keySet ++ is.identity.keySet).collectFirst {
        case key if was.identity.get(key) != is.identity.get(key) =>
          changed(named(key), was.identity.get(key), is.identity.get(key))
      }
  }

  private def changed(key: String, was: Option[String], is: Option[String]): String = {
    def text(value: Option[String]) = value.fold("not set")(v => s"'$v'")
    s"$key was ${text(was)} and is ${text(is)} now"
  }

  private def shown(names: Seq[Option[String]]): String =
    if (names.flatten.isEmpty) "none" else names.flatten.mkString(",")
}
