// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import splice.kafka.internal.bounds.{Fills, PartitionFill, SkipEntries, SkippedRanges, StartEntries}
import splice.kafka.internal.identity.{Identities, IdentityEntries}
import splice.kafka.internal.split.{Holes, KafkaPosition, KafkaSplitRange}
import splice.source.errors.CheckpointErrors
import splice.source.{EnumeratorContext, LogPartition}

/** The ranges between positions of one cluster. Ranges depend only on the positions and on entries of the side log.
  * Immutable and thread-safe.
  *
  * Later entries do not change a range, with two exceptions:
  *   - A skip changes each range that overlaps it, since all records before the end of the skip are lost in every
  *     batch.
  *   - If brokers return the id of a topic later, the id is added to its ranges, so that readers can check it.
  */
final private[splice] case class KafkaPlan(
    starts: Map[(LogPartition, Int), Long] = Map.empty,
    skips: SkippedRanges = SkippedRanges(),
    identities: Identities = Identities(),
    fills: Fills = Fills()
) {

  /** @throws splice.source.errors.SpliceException when neither a position nor an entry contains the start of a partition */
  def splits(from: KafkaPosition, until: KafkaPosition): Seq[KafkaSplitRange] = {
    val (at, to) = (identities.meant(from), identities.meant(until))
    val ids      = to.topics.iterator.map(t => t -> identities.owner(t, to.generation(t)).id).toMap
    to.offsets.iterator.flatMap { case (p, end) =>
      val generation = to.generation(p.topic)
      val begin      =
        start(p, at, to).getOrElse(throw CheckpointErrors.missingEntry(s"The side-log entry of the start of $p"))
      val from = skips.start(p, generation, begin, end)
      fills.find(p, generation) match {
        case None       => Iterator.single(KafkaSplitRange(p, from, end)(ids(p.topic), generation))
        case Some(fill) => filled(p, fill, from, end)(ids(p.topic), generation) :+
            KafkaSplitRange(p, math.max(from, fill.cut), end)(ids(p.topic), generation)
      }
    }.filter(range => range.from < range.until).toSeq
  }

  /** The ranges that begin at a position. The holes of a history are a separate range.
    *
    * @param until
    *   the end of a partition, or `Long.MaxValue`
    */
  def open(at: KafkaPosition)(isRead: LogPartition => Boolean, until: LogPartition => Long): Seq[KafkaSplitRange] = {
    val position = identities.meant(at)
    position.offsets.iterator.filter { case (p, _) => isRead(p) }.flatMap { case (p, from) =>
      val generation = position.generation(p.topic)
      val id         = identities.owner(p.topic, generation).id
      val fill       = fills.find(p, generation)
      fill.toSeq.flatMap(holes => filled(p, holes, from, math.min(holes.cut, until(p)))(id, generation)) :+
        KafkaSplitRange(p, fill.fold(from)(holes => math.max(from, holes.cut)), until(p))(id, generation)
    }.filter(range => range.from < range.until).toSeq
  }

  /** The range of the holes between two offsets, if there are holes. */
  private def filled(p: LogPartition, fill: PartitionFill, from: Long, until: Long)(
      id: Option[String],
      generation: Int
  ): Seq[KafkaSplitRange] = {
    val holes = fill.within(from, until)
    holes.headOption.toSeq.map { first =>
      KafkaSplitRange(p, first._1, holes.last._2, Some(Holes(holes, fill.held(holes))))(id, generation)
    }
  }

  /** The topics that the query has read, and the topics with a stored start. */
  def topics: Set[String] =
    identities.first.keySet ++ identities.later.keySet ++ starts.keysIterator.map { case (p, _) => p.topic }

  /** The partitions that have no start, in the generations of `until`. */
  def unknown(from: KafkaPosition, until: KafkaPosition): Set[LogPartition] = {
    val (at, to) = (identities.meant(from), identities.meant(until))
    to.offsets.keysIterator.filter(start(_, at, to).isEmpty).toSet
  }

  /** The start of a partition in a range between two positions. The start is in the first position, in the generation
    * of the topic, or in the start log.
    */
  private def start(p: LogPartition, at: KafkaPosition, to: KafkaPosition): Option[Long] = {
    val generation = to.generation(p.topic)
    val begin      = if (at.generation(p.topic) == generation) at.get(p) else None
    begin
      .orElse(identities.generation(p.topic, generation).flatMap(_.starts.get(p)))
      .orElse(starts.get((p, generation)))
  }
}

private[splice] object KafkaPlan {

  /** Reads the plan of one of many clusters from its start and the entries of its side log. Writes no entries. */
  def read(context: EnumeratorContext): KafkaPlan = {
    val log        = context.sideLog
    val identities = new IdentityEntries(log, hasGenerations = true).known
    KafkaPlan(
      new StartEntries(log).known,
      new SkipEntries(log).known,
      identities,
      Fills.of(context.start).continued(identities)
    )
  }
}
