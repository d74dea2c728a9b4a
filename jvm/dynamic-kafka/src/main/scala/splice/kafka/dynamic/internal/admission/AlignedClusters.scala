// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import java.time.{Clock, Instant}
import java.util.concurrent.TimeoutException

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.cluster.{ClusterResponse, ClusterWorkers}
import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.internal.admission.{EventTimeAdmission, RecordTimes}
import splice.kafka.internal.cluster.TimedOffset
import splice.kafka.internal.split.KafkaPosition
import splice.source.{EnumeratorContext, Limits, LogPartition, ReadMode}

/** Batches of several clusters that end at one time. While a cluster or a partition does not respond, no batch has rows,
  * for up to `clusterTimeout`. Afterwards the query fails, or batches continue without it. Used by one thread.
  */
final private[dynamic] class AlignedClusters(
    settings: DynamicSettings,
    admission: ClusterAdmission,
    times: EventTimeAdmission,
    workers: ClusterWorkers,
    steady: Clock
) {

  import AlignedClusters._

  // The clusters that did not answer the last request of times.
  private var unanswered = Set.empty[String]

  private var since  = SortedMap.empty[String, Instant]
  private var warned = Set.empty[String]
  private var held   = false

  /** The number of offsets that wait because of a record of the future, as of the last batch. */
  def rowsHeld: Long = times.rowsHeld

  /** Logs the partitions that wait because of a record of the future. */
  def warnHeld(isEnd: Boolean): Unit = times.warn(isEnd)

  /** True if the last batch lacks rows because a cluster or a partition does not respond. */
  def isHeld: Boolean = held || unanswered.nonEmpty

  /** Returns the end of each cluster in the batch; None if the batch has no rows.
    *
    * @param reach
    *   the responses of clusters
    * @param silent
    *   names of the clusters and partitions without a response
    */
  def apply(
      limits: Limits,
      ofCluster: String => Limits,
      reach: SortedMap[String, ClusterResponse],
      silent: Set[String],
      applied: AppliedMetadata
  ): Option[SortedMap[String, KafkaPosition]] = {
    val now = steady.instant()

    def isOver(name: String) = !now.isBefore(since(name).plus(settings.clusterTimeout))

    def note(all: Set[String]): Unit =
      since = SortedMap.from(all.iterator.map(name => name -> since.getOrElse(name, now)))

    @tailrec def batch(
        of: SortedMap[String, ClusterResponse],
        left: Set[String]
    ): Option[SortedMap[String, KafkaPosition]] = {
      val qualified = new QualifiedTimes(settings, workers, applied)
      val result    = admission.aligned(limits, ofCluster, of, times, settings.base.ending.nonEmpty)(qualified.of)
      unanswered = left ++ qualified.silent
      note(silent ++ unanswered)
      held = qualified.silent.exists(!isOver(_))
      if (qualified.silent.isEmpty || held) result
      else {
        if (settings.failWhenUnavailable)
          throw DynamicErrors.unavailable(unanswered, since(unanswered.head), new TimeoutException("no response"))
        batch(of -- qualified.silent, unanswered)
      }
    }

    note(silent ++ unanswered)
    // The query fails as soon as the policy `fail` decides.
    held = silent.exists(name => settings.failWhenUnavailable || !isOver(name))
    val result = if (held) None else batch(reach, Set.empty)
    if (!held) warn(since.keySet.toSet)
    result
  }

  private def warn(silent: Set[String]): Unit = {
    if ((silent -- warned).nonEmpty)
      logger.warn(
        s"No response of ${silent.toSeq.sorted.mkString(", ")} for ${settings.clusterTimeout.toSeconds} s. Batches continue without " +
          "their rows, so these rows can be late for a watermark."
      )
    warned = silent
  }
}

/** Requests of times by partitions whose topic names include their cluster. */
final private class QualifiedTimes(settings: DynamicSettings, workers: ClusterWorkers, applied: AppliedMetadata) {

  private var unanswered = Set.empty[String]

  /** The clusters that did not answer the last request. */
  def silent: Set[String] = unanswered

  def of(origin: LogPartition => (String, LogPartition)): RecordTimes = new RecordTimes {

    private def byCluster[A](of: Iterable[LogPartition])(value: LogPartition => A) =
      SortedMap.from(of.groupMap(origin(_)._1)(q => origin(q)._2 -> value(q))).transform((_, all) => all.toMap)

    private def qualified(
        answers: SortedMap[String, Map[LogPartition, TimedOffset]],
        names: SortedMap[String, Map[LogPartition, LogPartition]]
    ): Map[LogPartition, TimedOffset] =
      answers.iterator.flatMap { case (name, found) => found.iterator.map { case (p, r) => names(name)(p) -> r } }.toMap

    override def at(millis: Long, partitions: Set[LogPartition]): Option[Map[LogPartition, TimedOffset]] = {
      val names   = byCluster(partitions)(q => q)
      val answers = workers.attempt(applied, settings.clusterWait, always = false)(names.contains)((name, enumerator) =>
        enumerator.times.at(millis, names(name).keySet)
      ).collect { case (name, Some(found)) => name -> found }
      unanswered = names.keySet -- answers.keySet
      Option.when(unanswered.isEmpty)(qualified(answers, names))
    }

    override def next(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, TimedOffset] = {
      val own = byCluster(ranges.keys)(ranges)
      qualified(
        workers.attempt(applied, settings.clusterWait, always = false)(own.contains)((name, enumerator) =>
          enumerator.times.next(own(name))
        ),
        byCluster(ranges.keys)(q => q)
      )
    }
  }
}

private[dynamic] object AlignedClusters {

  private val logger = LoggerFactory.getLogger(classOf[AlignedClusters])

  /** Returns None if batches do not end at one time. A batch query reads all rows in one batch. */
  def of(
      settings: DynamicSettings,
      admission: ClusterAdmission,
      workers: ClusterWorkers,
      context: EnumeratorContext
  ): Option[AlignedClusters] = settings.base.eventTime.filter(_ => context.mode == ReadMode.Stream).map { eventTime =>
    val times = new EventTimeAdmission(eventTime, context.clock, context.steady)
    new AlignedClusters(settings, admission, times, workers, context.steady)
  }
}
