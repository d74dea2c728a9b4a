// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.split

import scala.collection.immutable.SortedMap
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.internal.split.KafkaPosition
import splice.source.Position
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.entries.{Json, NumberedEntries}

/** An offset of the dynamic Kafka source: a whole position, or the side-log entry that holds it. */
sealed abstract private[splice] class DynamicOffset extends Position

/** The next offset to be read of every partition of every cluster, and what was known of streams and clusters then.
  *
  * @param change
  *   number of the last change that was applied, an entry of the side log
  * @param clusters
  *   by the name that the metadata gives a cluster; one of which nothing is read is left out. An offset of a source of one cluster,
  *   whose checkpoint is taken over, is read as one of the cluster [[DynamicPosition.Unnamed]]
  */
final private[splice] case class DynamicPosition(change: Int, clusters: SortedMap[String, KafkaPosition])
    extends DynamicOffset {

  override lazy val json: String = unnamed.fold(written)(_.json)

  /** The position of a source of one cluster. */
  def unnamed: Option[KafkaPosition] = clusters.get(DynamicPosition.Unnamed)

  private def written: String = {
    val positions = clusters.map { case (name, position) => s"${Json.write(Json.text(name))}:${position.json}" }
    s"""{"change":$change,"clusters":${positions.mkString("{", ",", "}")},"v":${DynamicPosition.Version}}"""
  }

  /** How many characters [[json]] has, which is not written for that. */
  def length: Int = unnamed.fold {
    val frame = copy(clusters = SortedMap.empty).json.length + math.max(clusters.size - 1, 0)
    frame + clusters.iterator.map { case (name, own) => Json.write(Json.text(name)).length + 1 + own.json.length }.sum
  }(_.json.length)

  override def precedes(later: Position): Boolean = later match {
    case that: DynamicPosition =>
      change <= that.change && clusters.forall { case (name, own) => that.clusters.get(name).forall(own.precedes) }
    // Whoever was stored once is stored ever after.
    case _: StoredPosition => true
    case _                 => false
  }

  // Clusters that did not move are the same objects, and no text of all clusters is written.
  override def equals(other: Any): Boolean = other match {
    case that: DynamicPosition => (this eq that) || (change == that.change && clusters == that.clusters)
    case _                     => super.equals(other)
  }

  override def hashCode: Int = super.hashCode

  def of(cluster: String): KafkaPosition = clusters.getOrElse(cluster, KafkaPosition.Empty)

  /** The same with another position of one cluster. */
  def updated(cluster: String, position: KafkaPosition): DynamicPosition =
    if (of(cluster) eq position) this
    else copy(clusters = if (position.offsets.isEmpty) clusters - cluster else clusters.updated(cluster, position))

  /** The same with other names of clusters, by the old ones. */
  def renamed(names: collection.Map[String, String]): DynamicPosition =
    if (names.isEmpty) this
    else copy(clusters = clusters.map { case (name, own) => names.getOrElse(name, name) -> own })

  def topics: Set[ClusterTopic] =
    clusters.iterator.flatMap { case (name, position) => position.topics.map(ClusterTopic(name, _)) }.toSet
}

private[splice] object DynamicPosition {

  /** The version of every offset. */
  val Version = 1

  /** No cluster is called so. */
  val Unnamed = ""

  private val What = "The offset"

  /** The position without clusters of which nothing is read. */
  def of(change: Int, clusters: Iterable[(String, KafkaPosition)]): DynamicPosition =
    DynamicPosition(change, SortedMap.from(clusters.filter(_._2.offsets.nonEmpty)))

  /** What an offset says: a position, or in which entry of the side log it is.
    *
    * @throws splice.source.errors.SpliceException
    *   when the text is of a newer version, of another source, or damaged
    */
  def read(text: String): DynamicOffset = {
    def foreign = CheckpointErrors.foreign(
      s"$What $text",
      """a dynamic Kafka source's, such as {"change":1,"clusters":{"east":{"orders":{"0":5}}},"v":1}"""
    )
    val node = Json.read(text).filter(_.isObject).getOrElse(throw CheckpointErrors.corrupt(What, s"not JSON: $text"))
    if (!node.has("v")) of(0, Seq(Unnamed -> Try(KafkaPosition.read(text)).getOrElse(throw foreign)))
    else versioned(node, foreign)
  }

  /** The number of a change, where it is one. */
  private[split] def change(node: JsonNode): Option[Int] = Some(node).filter(n => n.isInt && n.asInt >= 0).map(_.asInt)

  private def versioned(node: JsonNode, foreign: => SpliceException): DynamicOffset = {
    val version = Json.field(node, "v").filter(_.isInt).map(_.asInt).getOrElse(throw foreign)
    if (version > Version) throw CheckpointErrors.newer(What, version, Version)
    val number = Json.field(node, "change").flatMap(change).getOrElse(throw foreign)
    (Json.field(node, "at"), Json.field(node, "clusters").filter(_.isObject)) match {
      case (Some(at), None)       => StoredPosition.read(at, number).getOrElse(throw foreign)
      case (None, Some(clusters)) =>
        of(number, Json.fields(clusters).map { case (name, own) => name -> KafkaPosition.read(Json.write(own)) })
      case _ => throw foreign
    }
  }
}

/** Stands in an offset for a [[DynamicPosition]] that is too long for one: it is in an entry of the side log ([[PositionEntries]]).
  *
  * Once an offset of a checkpoint was stored, all later ones are, so that two offsets can be compared without the entries.
  *
  * @param number
  *   of the entry; a later position has a greater one
  * @param change
  *   of the position
  */
final private[splice] case class StoredPosition(number: Int, change: Int) extends DynamicOffset {

  override lazy val json: String =
    s"""{"at":"${StoredPosition.key(number)}","change":$change,"v":${DynamicPosition.Version}}"""

  override def precedes(later: Position): Boolean = later match {
    case that: StoredPosition => number <= that.number
    case _                    => false
  }
}

private[splice] object StoredPosition {

  val Prefix = "position"

  /** The side-log entry of a position. */
  def key(number: Int): String = NumberedEntries.key(Prefix, number)

  /** None when `at` is not the name of such an entry. */
  private[split] def read(at: JsonNode, change: Int): Option[StoredPosition] =
    NumberedEntries.number(Prefix, at.asText).map(StoredPosition(_, change))
}

/** A topic on a cluster. */
final private[splice] case class ClusterTopic(cluster: String, topic: String) {
  override def toString: String = s"$cluster/$topic"
}

private[splice] object ClusterTopic {
  implicit val ordering: Ordering[ClusterTopic] = Ordering.by(t => (t.cluster, t.topic))
}
