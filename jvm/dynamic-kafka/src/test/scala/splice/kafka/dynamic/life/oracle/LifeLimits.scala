// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.oracle

import scala.collection.mutable

import splice.kafka.Place
import splice.kafka.dynamic.life.LifeWorld
import splice.kafka.dynamic.life.cluster.LifeRow
import splice.source.LogPartition
import splice.testkit.simulation.Violation

/** Computes the records of topics that starts and stops of streams permit, from the documents and logs of a
  * scenario.
  */
final private[life] class LifeLimits(world: LifeWorld) {

  import LifeLimits._

  private type Topic = (String, String)

  private val begins = mutable.Map.empty[Topic, Begin]
  private val stops  = mutable.Map.empty[Topic, Stop]
  private var first  = Option.empty[LifeChange]

  /** Records a durable change.
    *
    * @param isFirst
    *   true if the source starts with the change, so its starts apply from the first position on
    */
  def take(before: Option[LifeChange], change: LifeChange, isFirst: Boolean): Unit = {
    val states = before.filterNot(_ => isFirst).fold(Map.empty[Topic, String])(was => physical(was.states))
    val now    = physical(change.states)
    first = if (isFirst) Some(change) else None
    change.topics.foreach { case ((cluster, topic), name) =>
      val (place, stream) = ((world.names(cluster), topic), change.streams(name))
      if (!now.get(place).contains("waiting") && states.get(place).forall(Unbegun)) {
        begins -= place
        val published = if (isFirst) Sizes.Nothing else world.published(change.generations(name))
        stream.start.foreach(at => begins(place) = begin(cluster, place, at, published))
      }
      val known = stops.get(place).filter(known => known.stream == name && stream.stop.contains(known.at))
      stops -= place
      stream.stop.foreach { at =>
        val stop = known.getOrElse(Stop(name, cluster, at, world.published(change.generations(name))))
        stops(place) = stop.copy(isReached = stop.isReached || now.get(place).contains("removed"))
      }
    }
    stops --= stops.keySet.toSet -- physical(change.topics).keySet
  }

  /** Sets the start of a topic that a document removes before its cluster has returned the start. */
  def leaves(before: LifeChange, cluster: String, topic: String): Unit = {
    val place = (world.names(cluster), topic)
    val name  = before.topics((cluster, topic))
    begins -= place
    before.streams(name).start.foreach { at =>
      begins(place) = begin(cluster, place, at, world.published(before.generations(name)))
    }
  }

  /** Applies the first change again when the start is durable. Records may have been written after the change was
    * stored.
    */
  def started(): Unit = {
    first.foreach(change => take(None, change, isFirst = true))
    first = None
  }

  /** Records of a topic that must be read. */
  def owed(place: Topic): Seq[LifeRow] = rows(place).filterNot(row =>
    begins.get(place).exists(row.offset < _.most(row)) || stops.get(place).exists(isBeyond(_, row))
  )

  /** Checks a record of a batch that was planned. */
  def check(row: LifeRow): Unit = {
    val place = row.topic.cluster -> row.topic.name
    begins.get(place).filter(row.offset < _.least(row)).foreach(_ =>
      violated(s"a record before the start is read: $row")
    )
    stops.get(place).foreach { stop =>
      if (if (stop.at == Place.Latest) stop.isReached else isBeyond(stop, row))
        violated(s"a record after a stop at ${stop.at.productPrefix} is read: $row")
    }
  }

  private def begin(cluster: String, place: Topic, start: Place, published: Sizes): Begin = {
    val now = world.sizes
    start match {
      case Place.Latest         => Begin(published, now)
      case Place.At(time, _, _) =>
        val after = rows(place).filter(_.millis >= time.toEpochMilli).groupMapReduce(Sizes.key)(_.offset)(math.min)
        Begin(published.atMost(after), now.atMost(after))
      case Place.Offsets(clusters) =>
        val all = rows(place).flatMap(row => named(clusters.get(cluster), row).map(Sizes.key(row) -> _)).toMap
        Begin(Sizes(all), Sizes(all))
      case _ => Begin(Sizes.Nothing, Sizes.Nothing)
    }
  }

  private def isBeyond(stop: Stop, row: LifeRow): Boolean = stop.at match {
    case Place.Offsets(clusters) => named(clusters.get(stop.cluster), row).forall(row.offset >= _)
    case Place.At(time, _, _)    =>
      row.topic.partitions(row.partition).exists(r => r.offset <= row.offset && r.millis >= time.toEpochMilli)
    case _ => row.offset >= stop.published(row)
  }

  private def named(offsets: Option[collection.Map[LogPartition, Long]], row: LifeRow): Option[Long] =
    offsets.flatMap(_.get(LogPartition(row.topic.name, row.partition)))

  private def rows(place: Topic): Seq[LifeRow] =
    world.clusters(place._1).topic(place._2).fold(Seq.empty[LifeRow])(_.rows.toSeq)

  private def physical[A](topics: Map[(String, String), A]): Map[Topic, A] =
    topics.map { case ((cluster, topic), value) => (world.names(cluster), topic) -> value }

  private def violated(text: String): Nothing = throw new Violation(text)
}

private[life] object LifeLimits {

  private val Unbegun = Set("waiting", "gone")

  /** Lower and upper bound of the start of a topic. The query chose a start between these bounds. */
  final private case class Begin(least: Sizes, most: Sizes)

  /** @param published
    *   sizes of the logs at the publication of the document with the stop
    */
  final private case class Stop(
      stream: String,
      cluster: String,
      at: Place,
      published: Sizes,
      isReached: Boolean = false
  )
}

/** Offsets in partitions by incarnation of the topic. */
final private[life] case class Sizes(all: Map[(String, Int), Long]) {

  def apply(row: LifeRow): Long = all.getOrElse(Sizes.key(row), 0L)

  def atMost(other: Map[(String, Int), Long]): Sizes =
    Sizes(all.map { case (p, offset) => p -> math.min(offset, other.getOrElse(p, offset)) })
}

private[life] object Sizes {
  val Nothing: Sizes = Sizes(Map.empty)

  def key(row: LifeRow): (String, Int) = row.topic.id -> row.partition
}
