// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.split

import scala.collection.immutable.SortedMap

import splice.hybrid.internal.chain.Chain
import splice.hybrid.internal.errors.HybridErrors
import splice.source.Position
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.Json

/** The position of every leg that has begun: of a finished one, its end.
  *
  * @param begun
  *   positions by leg name; those of the first legs of the chain
  * @param removed
  *   the texts of the positions of legs that the chain does not have any more, by leg name
  */
final private[splice] class HybridPosition(
    chain: Chain,
    begun: SortedMap[String, Position],
    val removed: SortedMap[String, String] = SortedMap.empty
) extends Position {

  /** The leg that is being read: the last one that has begun. None if the chain does not have it any more. */
  val current: Option[String] = begun.keysIterator.maxByOption(chain.index)

  /** The leg that is being read.
    *
    * @throws SpliceException
    *   when the chain does not have it any more
    */
  def leg: String = current.getOrElse(throw HybridErrors.removedLeg(removed.keys.toSeq, json))

  /** The position of the leg that is being read. */
  def position: Position = begun(leg)

  /** The position of any leg that has begun. */
  def position(name: String): Position = begun(name)

  /** The position of a leg, if it has begun. */
  def find(name: String): Option[Position] = begun.get(name)

  /** The text of the position of a leg, if it has begun. The chain may not have the leg any more. */
  def text(name: String): Option[String] = begun.get(name).map(_.json).orElse(removed.get(name))

  /** The same leg, further on. */
  def moved(to: Position): HybridPosition = new HybridPosition(chain, begun.updated(leg, to), removed)

  /** The next leg, at its start. */
  def switched(next: String, start: Position): HybridPosition =
    new HybridPosition(chain, begun.updated(next, start), removed)

  override lazy val json: String = {
    val texts = begun.map { case (name, position) => name -> position.json } ++ removed
    val legs  = texts.map { case (name, text) => s"${Json.write(Json.text(name))}:$text" }
    s"""{"legs":${legs.mkString("{", ",", "}")},"v":${HybridPosition.Version}}"""
  }

  // Nothing orders positions of a leg that the chain does not have, unless they are equal.
  override def precedes(later: Position): Boolean = later match {
    case that: HybridPosition =>
      removed.forall { case (name, text) => that.text(name).contains(text) } && current.forall { leg =>
        that.current.exists(chain.index(leg) <= chain.index(_)) && begun(leg).precedes(that.position(leg))
      }
    case _ => false
  }
}

private[splice] object HybridPosition {

  val Version = 1

  private val What = "The offset"

  /** The first leg, at its start. */
  def first(chain: Chain, start: Position): HybridPosition =
    new HybridPosition(chain, SortedMap(chain.first.name -> start))

  /** Reads back what [[HybridPosition.json]] wrote. Positions of legs that the chain does not have are kept as texts.
    *
    * @throws SpliceException
    *   when the text is of a newer version, of another source, or damaged
    */
  def parse(chain: Chain, text: String): HybridPosition = {
    def corrupt(why: String) = CheckpointErrors.corrupt(What, s"$why: $text")
    def foreign = CheckpointErrors.foreign(s"$What $text", """a hybrid's, such as {"legs":{"live":{...}},"v":1}""")
    val node    = Json.read(text).getOrElse(throw corrupt("it is not JSON"))
    val version = Json.field(node, "v").filter(_.isInt).map(_.asInt).getOrElse(throw foreign)
    if (version > Version) throw CheckpointErrors.newer(What, version, Version)
    val legs = Json.field(node, "legs").filter(_.isObject).map(Json.fields).filter(_.nonEmpty).getOrElse(throw foreign)
    val (own, others) = legs.partition { case (name, _) => chain.contains(name) }
    val named         = own.map(_._1).toSet
    chain.legs.take(chain.legs.lastIndexWhere(leg => named(leg.name))).map(_.name).find(name => !named(name)).foreach {
      name => throw corrupt(s"it has no position of leg '$name'")
    }
    new HybridPosition(
      chain,
      SortedMap.from(own.map { case (name, position) => name -> chain(name).source.position(Json.write(position)) }),
      SortedMap.from(others.map { case (name, position) => name -> Json.write(position) })
    )
  }
}
