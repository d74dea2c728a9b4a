// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import splice.source.internal.legs.LegIdentity

/** Compares the legs of a checkpoint with the legs of a start.
  *
  * A leg may be added after the last leg that has begun. A leg that has ended may be removed, and may return to its old
  * position in the chain. A leg keeps its identity until the leg has ended. The name and the kind of a leg never
  * change.
  *
  * @param before
  *   the legs of the last entry; never empty
  * @param continues
  *   returns true if the source, which is not a hybrid, continues a checkpoint of the given kind
  */
final private[coordinator] class ChainChange(
    before: Seq[LegIdentity],
    now: Seq[LegIdentity],
    continues: String => Boolean
) {

  private val old     = before.map(_.name).toSet
  private val current = now.map(leg => leg.name -> leg).toMap
  private val missing = before.filterNot(leg => current.contains(leg.name))

  /** Returns the first difference that is not allowed, or None if all differences are allowed. If several legs are
    * missing, the result names the last missing leg. For an earlier leg, the checkpoint does not show whether a missing
    * later leg has begun.
    */
  def difference: Option[String] = misplaced.orElse(missing.reverse.flatMap(needed).headOption).orElse {
    before.flatMap(was => current.get(was.name).flatMap(changed(was, _))).headOption
  }

  /** Returns the legs of the checkpoint after this start. */
  def merged: Seq[LegIdentity] = {
    val known = before.map(leg => leg.name -> leg.identity).toMap
    val kept  = now.map(leg => leg.copy(identity = leg.identity.orElse(known.get(leg.name).flatten)))
    missing.lastOption.fold(kept) { last =>
      // All missing legs have ended, so no leg before a missing leg is new.
      val (ended, others) = before.splitAt(before.indexOf(last) + 1)
      val reached         = ended.map(leg => kept.find(_.name == leg.name).getOrElse(leg.copy(removed = true)))
      reached ++ kept.filterNot(leg => ended.exists(_.name == leg.name))
    }
  }

  /** Returns an error for a changed order, for a hybrid that is now a single source, and for the reverse. A new leg
    * before a leg that has begun is also an error, because Splice would never read the new leg.
    */
  private def misplaced: Option[String] = {
    val behind  = now.dropWhile(leg => old(leg.name)).filter(leg => old(leg.name))
    val isFirst = before.headOption.map(_.name).toSet
    val inOrder = now.map(_.name).filter(old) == before.map(_.name).filter(current.contains)
    val isNamed = now.forall(_.name.nonEmpty) == before.forall(_.name.nonEmpty)
    Option.unless(isNamed && inOrder && !behind.exists(leg => leg.begun || isFirst(leg.name)))(legs)
  }

  private def needed(leg: LegIdentity): Option[String] = {
    val after  = before.drop(before.indexOf(leg) + 1).flatMap(next => current.get(next.name))
    val counts = after.headOption.flatMap(_.countsBefore)
    def name   = leg.name.getOrElse(leg.source)
    if (!leg.removed && !after.exists(_.begun))
      Some(s"$legs. Leg '$name' has not ended, and only legs that have ended can be removed")
    else
      counts.map { by =>
        s"$legs. The hand-over of leg '$by' is not decided, and counts the rows of leg '$name'. Keep leg '$name' until leg '$by' has begun"
      }
  }

  private def changed(was: LegIdentity, is: LegIdentity): Option[String] = {
    def named(key: String) = was.name.fold(key)(leg => s"$leg.$key")
    val continued          = was.source == is.source || (is.name.isEmpty && continues(was.source))
    if (!continued) Some(text(named("source"), Some(was.source), Some(is.source)))
    else
      for {
        before <- was.identity
        now    <- is.identity
        key    <- (before.keySet ++ now.keySet).find(key => before.get(key) != now.get(key))
      } yield text(named(key), before.get(key), now.get(key))
  }

  private def legs: String = text("legs", Some(shown(before.filterNot(_.removed))), Some(shown(now)))

  private def text(key: String, was: Option[String], is: Option[String]): String = {
    def shown(value: Option[String]) = value.fold("not set")(v => s"'$v'")
    s"$key was ${shown(was)} and is ${shown(is)} now"
  }

  private def shown(legs: Seq[LegIdentity]): String =
    if (legs.flatMap(_.name).isEmpty) "none" else legs.flatMap(_.name).mkString(",")
}
