// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.split

import scala.collection.immutable.SortedMap

import splice.hybrid.internal.chain.Chain
import splice.hybrid.internal.errors.HybridErrors
import splice.source.Position
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, VersionedJson}

/** Position of a hybrid source: the position of each started leg. The position of a finished leg is its end.
  *
  * @param begun
  *   positions of the first legs of the chain, by leg name
  * @param removed
  *   JSON texts of the positions of removed legs, by leg name
  */
final private[splice] class HybridPosition(
    chain: Chain,
    begun: SortedMap[String, Position],
    val removed: SortedMap[String, String] = SortedMap.empty
) extends Position {

  /** Current leg: the last leg that has begun, or None if that leg was removed from the chain. */
  val current: Option[String] = begun.keysIterator.maxByOption(chain.index)

  /** True if no hand-over has occurred. */
  def hasOneLeg: Boolean = begun.size + removed.size == 1

  /** Current leg.
    *
    * @throws SpliceException
    *   if the current leg was removed from the chain
    */
  def leg: String = current.getOrElse(throw HybridErrors.removedLeg(removed.keys.toSeq, json))

  /** Position of the current leg. */
  def position: Position = begun(leg)

  /** Position of a started leg. */
  def position(name: String): Position = begun(name)

  /** Position of a leg; None if the leg has not begun. */
  def find(name: String): Option[Position] = begun.get(name)

  /** JSON text of the position of a leg; None if the leg has not begun. Also defined for removed legs. */
  def text(name: String): Option[String] = begun.get(name).map(_.json).orElse(removed.get(name))

  /** Position at a later point of the current leg. */
  def moved(to: Position): HybridPosition = new HybridPosition(chain, begun.updated(leg, to), removed)

  /** Position at the start of the next leg. */
  def switched(next: String, start: Position): HybridPosition =
    new HybridPosition(chain, begun.updated(next, start), removed)

  override lazy val json: String = {
    val legs = begun.map { case (name, position) => name -> position.json } ++ removed
    VersionedJson.write("legs" -> Json.compose(legs))
  }

  // Positions of removed legs have no order and are only compared for equality.
  override def precedes(later: Position): Boolean = later match {
    case that: HybridPosition =>
      removed.forall { case (name, text) => that.text(name).contains(text) } && current.forall { leg =>
        that.current.exists(chain.index(leg) <= chain.index(_)) && begun(leg).precedes(that.position(leg))
      }
    case _ => false
  }
}

private[splice] object HybridPosition {

  private val What = "The offset"

  /** Position at the start of the first leg. */
  def first(chain: Chain, start: Position): HybridPosition =
    new HybridPosition(chain, SortedMap(chain.first.name -> start))

  /** Parses the result of [[HybridPosition.json]]. Positions of removed legs are kept as texts.
    *
    * @throws SpliceException
    *   if the text has a newer version, belongs to another source, or is corrupt
    */
  def parse(chain: Chain, text: String): HybridPosition = {
    def corrupt(why: String) = CheckpointErrors.corrupt(What, s"$why: $text")
    def foreign              = CheckpointErrors.foreign(
      s"$What $text",
      """an offset of a hybrid source, such as {"legs":{"live":{...}},"v":1}"""
    )
    val node = Json.read(text).getOrElse(throw corrupt("the text is not JSON"))
    VersionedJson.check(node, What)(_ => foreign)
    val legs = Json.field(node, "legs").filter(_.isObject).map(Json.fields).filter(_.nonEmpty).getOrElse(throw foreign)
    val (known, others) = legs.partition { case (name, _) => chain.contains(name) }
    val named           = known.map(_._1).toSet
    chain.legs.take(chain.legs.lastIndexWhere(leg => named(leg.name))).map(_.name).find(name => !named(name)).foreach {
      name => throw corrupt(s"the text has no position of leg '$name'")
    }
    new HybridPosition(
      chain,
      SortedMap.from(known.map { case (name, position) => name -> chain(name).source.position(Json.write(position)) }),
      SortedMap.from(others.map { case (name, position) => name -> Json.write(position) })
    )
  }
}
