// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.SortedMap

import splice.source._

/** The position of every leg that has begun: of a finished one, its end.
  *
  * @param begun
  *   positions by leg name; those of the first legs of the chain
  */
final private[splice] class HybridPosition(chain: Chain, begun: SortedMap[String, Position]) extends Position {

  /** The leg that is being read: the last one that has begun. */
  val leg: String = begun.keysIterator.maxBy(chain.index)

  /** The position of the leg that is being read. */
  def position: Position = begun(leg)

  /** The position of any leg that has begun. */
  def position(name: String): Position = begun(name)

  /** The position of a leg, if it has begun. */
  def find(name: String): Option[Position] = begun.get(name)

  /** The same leg, further on. */
  def moved(to: Position): HybridPosition = new HybridPosition(chain, begun.updated(leg, to))

  /** The next leg, at its start. */
  def switched(next: String, start: Position): HybridPosition =
    new HybridPosition(chain, begun.updated(next, start))

  override lazy val json: String = {
    val legs = begun.map { case (name, position) => s"${Json.write(Json.text(name))}:${position.json}" }
    s"""{"legs":${legs.mkString("{", ",", "}")},"v":${HybridPosition.Version}}"""
  }

  override def precedes(later: Position): Boolean = later match {
    case that: HybridPosition =>
      chain.index(leg) <= chain.index(that.leg) && position.precedes(that.position(leg))
    case _ => false
  }
}

private[splice] object HybridPosition {

  val Version = 1

  private val What = "The offset"

  /** The first leg, at its start. */
  def first(chain: Chain, start: Position): HybridPosition =
    new HybridPosition(chain, SortedMap(chain.first.name -> start))

  /** Reads back what [[HybridPosition.json]] wrote.
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
    val legs  = Json.field(node, "legs").filter(_.isObject).map(Json.fields).filter(_.nonEmpty).getOrElse(throw foreign)
    val named = legs.map(_._1).toSet
    named.find(name => !chain.contains(name)).foreach { name =>
      throw corrupt(s"it names leg '$name', and the legs are ${chain.legs.map(_.name).mkString(", ")}")
    }
    chain.legs.take(named.size).map(_.name).find(name => !named(name)).foreach { name =>
      throw corrupt(s"it has no position of leg '$name'")
    }
    val begun = legs.map { case (name, position) => name -> chain(name).source.position(Json.write(position)) }
    new HybridPosition(chain, SortedMap.from(begun))
  }
}
