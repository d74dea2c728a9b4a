// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.split

import scala.collection.immutable.SortedMap
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.internal.split.KafkaPosition
import splice.source.Position
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.entries.{Json, NumberedEntries, VersionedJson}

/** Offset of the dynamic Kafka source: a complete position, or the number of the side-log entry that contains the
  * position.
  */
sealed abstract private[splice] class DynamicOffset extends Position

/** Next offset to read from every partition of every cluster, and the number of the applied change.
  *
  * @param change
  *   number of the last change that was applied, an entry of the side log
  * @param clusters
  *   positions by the name of the cluster in the metadata. A cluster without positions has no entry. A checkpoint of a
  *   source of one cluster has offsets without a cluster name, which belong to the cluster [[DynamicPosition.Unnamed]]
  */
final private[splice] case class DynamicPosition(change: Int, clusters: SortedMap[String, KafkaPosition])
    extends DynamicOffset {

  override lazy val json: String = unnamed.fold(written)(_.json)

  /** Returns the position of a source of one cluster; None if the position has cluster names. */
  def unnamed: Option[KafkaPosition] = clusters.get(DynamicPosition.Unnamed)

  private def written: String = VersionedJson.write(
    "change"   -> change.toString,
    "clusters" -> Json.compose(clusters.iterator.map { case (name, position) => name -> position.json })
  )

  /** Returns the number of characters of [[json]], without composing the text. */
  def length: Int = unnamed.fold {
    val frame = copy(clusters = SortedMap.empty).json.length + math.max(clusters.size - 1, 0)
    frame + clusters.iterator.map { case (name, position) =>
      Json.quoted(name).length + 1 + position.json.length
    }.sum
  }(_.json.length)

  override def precedes(later: Position): Boolean = later match {
    case that: DynamicPosition =>
      change <= that.change && clusters.forall { case (name, position) =>
        that.clusters.get(name).forall(position.precedes)
      }
    // After the first stored position of a checkpoint, all later positions are stored.
    case _: StoredPosition => true
    case _                 => false
  }

  // Clusters without progress share the same object, so that this comparison needs no JSON text of all clusters.
  override def equals(other: Any): Boolean = other match {
    case that: DynamicPosition => (this eq that) || (change == that.change && clusters == that.clusters)
    case _                     => super.equals(other)
  }

  override def hashCode: Int = super.hashCode

  def of(cluster: String): KafkaPosition = clusters.getOrElse(cluster, KafkaPosition.Empty)

  /** Returns the position with another position of one cluster. */
  def updated(cluster: String, position: KafkaPosition): DynamicPosition =
    if (of(cluster) eq position) this
    else copy(clusters = if (position.offsets.isEmpty) clusters - cluster else clusters.updated(cluster, position))

  def topics: Set[ClusterTopic] =
    clusters.iterator.flatMap { case (name, position) => position.topics.map(ClusterTopic(name, _)) }.toSet
}

private[splice] object DynamicPosition {

  /** Name of the cluster of offsets without a cluster name. The metadata cannot contain it, because the name is not
    * valid.
    */
  val Unnamed = ""

  private val What = "The offset"

  /** Returns the position without clusters that have no positions. */
  def of(change: Int, clusters: Iterable[(String, KafkaPosition)]): DynamicPosition =
    DynamicPosition(change, SortedMap.from(clusters.filter(_._2.offsets.nonEmpty)))

  /** Parses an offset.
    *
    * @throws splice.source.errors.SpliceException
    *   if the text has a newer version, is an offset of another source, or is damaged
    */
  def read(text: String): DynamicOffset = {
    def foreign = CheckpointErrors.foreign(
      s"$What $text",
      """an offset of a dynamic Kafka source, such as {"change":1,"clusters":{"east":{"orders":{"0":5}}},"v":1}"""
    )
    val node = Json.readObject(text).getOrElse(throw CheckpointErrors.corrupt(What, s"not JSON: $text"))
    if (!VersionedJson.isVersioned(node)) of(0, Seq(Unnamed -> Try(KafkaPosition.read(text)).getOrElse(throw foreign)))
    else versioned(node, foreign)
  }

  /** Returns the number of a change; None if the node is not a valid number. */
  private[split] def change(node: JsonNode): Option[Int] = Some(node).filter(n => n.isInt && n.asInt >= 0).map(_.asInt)

  private def versioned(node: JsonNode, foreign: => SpliceException): DynamicOffset = {
    VersionedJson.check(node, What)(_ => foreign)
    val number = Json.field(node, "change").flatMap(change).getOrElse(throw foreign)
    (Json.field(node, "at"), Json.field(node, "clusters").filter(_.isObject)) match {
      case (Some(at), None)       => StoredPosition.read(at, number).getOrElse(throw foreign)
      case (None, Some(clusters)) =>
        of(number, Json.fields(clusters).map { case (name, value) => name -> KafkaPosition.read(Json.write(value)) })
      case _ => throw foreign
    }
  }
}

/** Offset that refers to a [[DynamicPosition]] in an entry of the side log, because the position is too long
  * ([[PositionEntries]]).
  *
  * After the first stored position of a checkpoint, all later positions are stored. Splice can therefore compare two
  * offsets without the entries.
  *
  * @param number
  *   number of the entry; a later position has a greater number
  * @param change
  *   number of the change of the position
  */
final private[splice] case class StoredPosition(number: Int, change: Int) extends DynamicOffset {

  override lazy val json: String =
    VersionedJson.write("at" -> Json.quoted(StoredPosition.key(number)), "change" -> change.toString)

  override def precedes(later: Position): Boolean = later match {
    case that: StoredPosition => number <= that.number
    case _                    => false
  }
}

private[splice] object StoredPosition {

  val Prefix = "position"

  /** Returns the key of the side-log entry of a position. */
  def key(number: Int): String = NumberedEntries.key(Prefix, number)

  /** Reads the key of an entry. Returns None if `at` is not such a key. */
  private[split] def read(at: JsonNode, change: Int): Option[StoredPosition] =
    NumberedEntries.number(Prefix, at.asText).map(StoredPosition(_, change))
}

/** Topic on a cluster. */
final private[splice] case class ClusterTopic(cluster: String, topic: String) {
  override def toString: String = s"$cluster/$topic"
}

private[splice] object ClusterTopic {
  implicit val ordering: Ordering[ClusterTopic] = Ordering.by(t => (t.cluster, t.topic))
}
