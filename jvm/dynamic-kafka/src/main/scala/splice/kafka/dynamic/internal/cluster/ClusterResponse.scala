// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.internal.change.{OffsetForTime, OffsetsForTime, UpperBound}
import splice.kafka.dynamic.internal.state.TopicState.{Bound, Draining}
import splice.kafka.internal.bounds.Fills
import splice.kafka.internal.cluster.UnavailablePartition
import splice.kafka.internal.enumerator.ClusterEnumerator
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.errors.SpliceException
import splice.source.{Limits, LogPartition}

/** Response of a cluster: the ends up to which it can be read, and the values that changes need.
  *
  * @param begins
  *   starts of partitions that have rows to read, including partitions that the position does not have
  * @param fills
  *   the holes of a history that are to be read
  * @param written
  *   ends of partitions, including records of open transactions: of removed topics, and of topics whose times are
  *   needed
  * @param deleted
  *   partitions of draining topics that were deleted or recreated
  * @param lowered
  *   ends of partitions of draining topics, if the log was truncated to an end before the end of the drain
  * @param clusterId
  *   the id of the cluster, if its brokers return an id
  * @param silent
  *   partitions that do not respond; the response contains no new records of these partitions
  * @param places
  *   offsets for the times of the request, for topics whose partitions all responded
  * @param starts
  *   starts of the topics of the request, for topics whose partitions all responded; empty for removed topics that do
  *   not exist
  * @param missing
  *   topics of the request that do not exist
  * @param settled
  *   for a request without ends: the position with new partitions, after offsets that a policy skips
  * @param open
  *   for a request without ends: the partitions that are read, each with its end, or with the maximum number
  * @param sourceEnd
  *   the end of a bounded source
  */
final private[dynamic] case class ClusterResponse(
    request: ClusterRequest,
    until: KafkaPosition,
    begins: Map[LogPartition, Long],
    fills: Fills,
    written: Map[LogPartition, Long],
    deleted: Set[LogPartition],
    lowered: Map[LogPartition, Long],
    clusterId: Option[String],
    silent: SortedMap[LogPartition, UnavailablePartition],
    places: Map[(String, Long), OffsetsForTime],
    starts: Map[String, KafkaPosition],
    missing: SortedSet[String],
    settled: KafkaPosition,
    open: Map[LogPartition, Long],
    sourceEnd: Option[KafkaPosition] = None
) {

  /** Returns the start of a partition that has rows to read, or of a partition of a request without ends. */
  def begin(partition: LogPartition): Option[Long] = begins.get(partition).orElse(settled.get(partition))

  /** Returns the number of offsets to read. */
  def rows: Long = begins.iterator.map { case (p, begin) =>
    until.get(p).fold(0L)(fills.between(p, until.generation(p.topic), begin, _))
  }.sum

  /** Returns the ends of all logs. A partition that does not respond has its end of an earlier response.
    *
    * @param earlier
    *   the ends of earlier responses
    */
  def ends(earlier: KafkaPosition): KafkaPosition = if (silent.isEmpty) until
  else {
    val known = silent.keySet.flatMap(p =>
      earlier.get(p).filter(_ => earlier.generation(p.topic) == until.generation(p.topic)).map(p -> _)
    )
    until.copy(offsets = until.offsets -- silent.keySet ++ known)
  }

  /** Returns the removed topics whose drain cannot end, because some of their partitions do not respond. */
  def blocked: Map[String, SpliceException] = silent.collect {
    case (p, partition)
        if request.pending(p.topic) || request.draining.get(p.topic).exists(_.bound.needs(p, request.from)) =>
      p.topic -> partition.error
  }.toMap

  /** Returns the end of a removed topic. The end includes records of open transactions, which readers return only after
    * the commit.
    */
  private def end(topic: String): KafkaPosition = {
    val visible = until.only(topic)
    visible.copy(offsets = visible.offsets.map { case (p, end) =>
      p -> math.max(end, request.limited(sourceEnd)(p, written.getOrElse(p, end)))
    })
  }

  /** Returns true if only the end of a bounded source lowers the end of a drain, so that no row is lost. */
  def isShortened(topic: String, drain: Draining): Boolean = drain.bound match {
    case Bound.Ends(known, _) => shortened(topic, known) != known
    case _                    => false
  }

  // The source does not read a partition without an end and without a position.
  private def shortened(topic: String, known: KafkaPosition): KafkaPosition =
    if (request.stopping(topic)) known
    else known.copy(offsets = known.offsets.transform(request.limited(sourceEnd)).filter { case (p, end) =>
      end > 0 || sourceEnd.isEmpty || request.from.get(p).nonEmpty
    })

  /** Returns the response after changes that it caused. A topic that a change started, or that is no longer read, stays
    * at its position.
    *
    * @param read
    *   the topics that are read now
    * @param from
    *   the position now
    */
  def after(read: Set[String], from: KafkaPosition): ClusterResponse = {
    val moved = (until.topics ++ from.topics).filter { topic =>
      !read(topic) || !until.hasTopic(topic) || ((from ne request.from) && from.of(topic) != request.from.of(topic))
    }
    def stays(position: KafkaPosition) =
      moved.foldLeft(position)((all, topic) => all.without(topic).and(from.only(topic)))
    copy(until = stays(until), begins = begins.filterNot(b => moved(b._1.topic)), settled = stays(settled))
  }

  /** Returns the response without topics that are not read. */
  def without(topics: Set[String]): ClusterResponse = {
    def left(position: KafkaPosition) = topics.foldLeft(position)(_ without _)
    copy(
      request = request.copy(draining = request.draining -- topics, starts = request.starts -- topics),
      until = left(until),
      begins = begins.filterNot { case (p, _) => topics(p.topic) },
      silent = silent.filterNot { case (p, _) => topics(p.topic) },
      places = places.filterNot { case ((topic, _), _) => topics(topic) },
      starts = starts -- topics,
      missing = missing -- topics,
      settled = left(settled),
      open = open.filterNot { case (p, _) => topics(p.topic) }
    )
  }

  /** Returns the response within the bound of a batch. If a topic was recreated and stays at its position, its old
    * offsets are not the start of its new generation.
    *
    * @param from
    *   the position now
    */
  def within(bound: KafkaPosition, from: KafkaPosition): ClusterResponse =
    if (bound eq until) this
    else copy(
      until = bound,
      begins = begins.filterNot { case (p, _) =>
        bound.get(p) == from.get(p) && bound.generation(p.topic) == from.generation(p.topic)
      }
    )

  /** Returns the start of a topic. A response to a request for another start does not apply. A removed topic that does
    * not exist has an empty start, so that its drain ends.
    */
  def start(topic: String, of: Option[Place]): Option[KafkaPosition] =
    starts.get(topic).filter { found =>
      request.pending(topic) && found.offsets.isEmpty || request.starts.get(topic).contains(of)
    }

  /** Returns the end of a drain; None if the response does not change it. A response to an earlier request does not
    * apply.
    */
  def bound(topic: String, drain: Draining): Option[KafkaPosition] = drain.bound match {
    case _ if !request.draining.get(topic).exists(of => of.since == drain.since && of.bound == drain.bound) => None
    case bound if bound.isRequested && blocked.contains(topic)                                              => None
    case Bound.Requested                    => Some(end(topic))
    case Bound.Within(Bound.At(time, ends)) =>
      Some(places.get(topic -> time.millis).fold(end(topic))(_.position(topic, ends)))
    case Bound.Within(Bound.Ends(stop, _)) =>
      val last = end(topic)
      Some(stop.copy(offsets = stop.offsets.flatMap { case (p, most) => last.get(p).map(n => p -> math.min(n, most)) }))
    case Bound.Ends(known, _) =>
      // Otherwise the drain would wait indefinitely for records that do not exist any more.
      val existing = known.offsets.filterNot(p => deleted(p._1)).transform((p, end) => lowered.getOrElse(p, end))
      if (isShortened(topic, drain)) Some(shortened(topic, known))
      else Option.when(existing != known.offsets)(known.copy(offsets = existing))
    case _ => None
  }
}

private[dynamic] object ClusterResponse {

  /** Sends the requests to a cluster and returns the response. */
  def of(enumerator: ClusterEnumerator, request: ClusterRequest): ClusterResponse = {
    import request.{draining, from}
    enumerator.expect(request.expected)
    enumerator.limit(request.limit, request.timed.keySet ++ request.starts.keySet)
    // A broker with outdated metadata may have sent a response without these topics.
    val absent = request.pending.filter(enumerator.missing)
    // The drain includes a partition that was created between the last refresh and the removal.
    if (absent.nonEmpty || draining.valuesIterator.exists(_.bound.isRequested)) enumerator.refresh()
    val settled = if (request.isOpen) enumerator.settle(from) else from
    val until   = if (request.needsEnds) enumerator.advance(settled, Limits.NotSet) else settled
    val silent  = enumerator.silent
    val ranges  = if (request.isOpen || until == from) Nil else enumerator.splits(from, until)
    val open    =
      if (request.isOpen) enumerator.open(settled).collect { case r: KafkaSplitRange => r.partition -> r.until }
      else Nil
    val begins =
      ranges.collect { case r: KafkaSplitRange => r.partition -> r.from }.groupMapReduce(_._1)(_._2)(math.min)
    val deleted = draining.valuesIterator.map(_.bound).collect { case Bound.Ends(ends, _) => ends }
      .flatMap(missing(enumerator, request, until, _)).toSet
    val lower  = lowered(enumerator, request, until)(p => !deleted(p) && !silent.contains(p))
    val known  = until.topics -- silent.keysIterator.map(_.topic)
    val times  = request.times.filter(t => known(t._1))
    val limits = request.limits.filter { case (topic, _) => known(topic) && until.only(topic) != from.only(topic) }
    val ending = draining.collect { case (topic, is) if is.bound.isRequested && known(topic) => topic }
    val ahead  = if (request.isOpen) request.ahead.filter(p => until.get(p).nonEmpty) else Set.empty[LogPartition]
    val last   = (ending ++ times.map(_._1)).flatMap(until.of(_).keySet).toSet ++ ahead
    val ends   = if (last.isEmpty) Map.empty[LogPartition, Long] else enumerator.written(last)
    ClusterResponse(
      request,
      until,
      begins,
      enumerator.plan.fills,
      ends,
      deleted,
      lower,
      enumerator.clusterId,
      silent,
      (times ++ limits).groupMap(_._2)(_._1).flatMap { case (millis, topics) =>
        places(enumerator, until, ends, millis, topics, request)
      },
      starts(enumerator, until, request.starts.filter(topic => known(topic._1))) ++
        absent.filter(enumerator.missing).map(_ -> KafkaPosition.Empty),
      enumerator.missing,
      settled,
      open.groupMapReduce(_._1)(_._2)(math.max),
      enumerator.end
    )
  }

  // The ends were requested first. A record that arrives between the two requests is read later, and is not skipped.
  private def places(
      enumerator: ClusterEnumerator,
      until: KafkaPosition,
      written: Map[LogPartition, Long],
      millis: Long,
      topics: Set[String],
      request: ClusterRequest
  ): Map[(String, Long), OffsetsForTime] = {
    val ends    = topics.iterator.map(topic => topic -> until.of(topic)).toMap
    val records = enumerator.atTime(ends.valuesIterator.flatMap(_.keysIterator).map(_ -> millis).toMap)
    val begins  = ends.collect {
      case (topic, partitions) if request.timed.get(topic).exists(_.offsets.isEmpty) => partitions.keySet
    }.flatten.toSet
    val firsts =
      if (begins.isEmpty) Map.empty[LogPartition, Long]
      else enumerator.newStarts(begins, Some(Place.Earliest))
    ends.map { case (topic, partitions) =>
      (topic, millis) -> OffsetsForTime(
        request.time,
        until.generation(topic),
        partitions.map { case (p, end) =>
          def last(offset: Long) =
            if (request.from.hasTopic(topic)) request.limited(enumerator.end)(p, offset) else offset
          val first = records.get(p).map(record => last(record.offset))
          p -> OffsetForTime(first, end.max(last(written.getOrElse(p, end))), firsts.get(p))
        }
      )
    }
  }

  private def starts(
      enumerator: ClusterEnumerator,
      until: KafkaPosition,
      topics: Map[String, Option[Place]]
  ): Map[String, KafkaPosition] =
    topics.groupMap(_._2)(_._1).flatMap { case (start, names) =>
      val resolved: Map[LogPartition, Long] = start match {
        // The log may not have reached these offsets yet. The other partitions of a returned topic may have an earlier
        // start in the checkpoint, which must not apply again.
        case Some(Place.Exact(offsets, _)) =>
          val others = names.flatMap(until.of(_).keySet).toSet -- offsets.keySet
          if (others.isEmpty) offsets else offsets ++ enumerator.newStarts(others, None)
        case _ => enumerator.newStarts(names.flatMap(until.of(_).keySet).toSet, start)
      }
      // A position of a partition that does not exist counts as data loss.
      names.map { topic =>
        val offsets = resolved.filter { case (p, _) => p.topic == topic && until.get(p).nonEmpty }
        topic -> KafkaPosition.of(offsets).as(topic, until.generation(topic))
      }
    }

  private def missing(
      enumerator: ClusterEnumerator,
      request: ClusterRequest,
      until: KafkaPosition,
      ends: KafkaPosition
  ): Iterable[LogPartition] = {
    val exists                 = enumerator.isMember(ends)
    def comes(p: LogPartition) = request.stopping(p.topic) && request.from.get(p).isEmpty
    ends.offsets.keys.filter(p =>
      !exists(p.toString) && !comes(p) || UpperBound.isOther(ends, p.topic, request.from, until)
    )
  }

  /** Returns the ends of logs that end before the end of their drain, because records were lost. A log may not have
    * reached an offset from a document yet, such as the offset of a cutover or the start in a mirror that lags.
    */
  private def lowered(enumerator: ClusterEnumerator, request: ClusterRequest, until: KafkaPosition)(
      responds: LogPartition => Boolean
  ): Map[LogPartition, Long] = {
    val ahead  = request.ahead
    val bounds = request.draining.collect { case (topic, is) if !request.stopping(topic) => is.bound }
    // The end that readers see may also be lower because of an open transaction.
    val short = bounds.collect { case bound @ Bound.Ends(ends, false) =>
      ends.offsets.filter { case (p, end) =>
        bound.needs(p, request.from) && until.get(p).exists(_ < end) &&
        until.generation(p.topic) == ends.generation(p.topic) && !ahead(p) && responds(p)
      }
    }.flatten.toMap
    if (short.isEmpty) Map.empty else enumerator.lowered(short)
  }
}
