// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import java.time.{Clock, Duration, Instant}
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
import splice.kafka.internal.metrics.DelayNeeded
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

  private var outages = SortedMap.empty[String, Outage]
  private var warned  = Set.empty[String]
  private var held    = false
  private var present = Set.empty[String]

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

    def isOver(name: String) = outages(name).isOver(now, settings.clusterTimeout)

    def note(all: Set[String]): Unit =
      outages = SortedMap.from(all.iterator.map(name => name -> outages.getOrElse(name, Outage(now))))

    def failIfOver(names: Set[String]): Unit = names.filter(isOver).minByOption(outages(_).since).foreach { first =>
      if (settings.failWhenUnavailable) {
        val error = workers.find(first).flatMap(_.health.error).getOrElse(new TimeoutException("no response in time"))
        throw DynamicErrors.unavailable(names, outages(first).since, error)
      }
    }

    @tailrec def batch(
        of: SortedMap[String, ClusterResponse],
        left: Set[String]
    ): Option[SortedMap[String, KafkaPosition]] = {
      val qualified = new QualifiedTimes(settings, workers, applied)
      val result    = admission.aligned(limits, ofCluster, of, times, settings.base.ending.nonEmpty)(qualified.of)
      unanswered = left ++ qualified.silent
      note(silent ++ unanswered)
      held = qualified.silent.exists(!isOver(_))
      failIfOver(qualified.silent)
      if (qualified.silent.isEmpty || held) result else batch(of -- qualified.silent, unanswered)
    }

    note(silent ++ unanswered)
    outages = outages.transform((_, outage) => outage.next)
    failIfOver(silent)
    held = silent.exists(!isOver(_))
    val result =
      if (held) None
      else {
        follow(reach.keySet.toSet)
        batch(reach, Set.empty)
      }
    if (!held) warn(outages.keySet.toSet)
    result
  }

  // The rows of a cluster that was not read begin again.
  private def follow(names: Set[String]): Unit = if (names != present) {
    times.forget(q => !names(ClusterAdmission.clusterOf(q)))
    present = names
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

    private def qualified[A](
        answers: SortedMap[String, Map[LogPartition, A]],
        names: SortedMap[String, Map[LogPartition, LogPartition]]
    ): Map[LogPartition, A] =
      answers.iterator.flatMap { case (name, found) => found.iterator.map { case (p, r) => names(name)(p) -> r } }.toMap

    override def at(millis: Long, partitions: Set[LogPartition]): Option[Map[LogPartition, TimedOffset]] = {
      val names   = byCluster(partitions)(q => q)
      val answers = workers.attempt(applied, settings.clusterWait, always = false)(names.contains)((name, enumerator) =>
        enumerator.times.at(millis, names(name).keySet)
      ).collect { case (name, Some(found)) => name -> found }
      unanswered = names.keySet -- answers.keySet
      Option.when(unanswered.isEmpty)(qualified(answers, names))
    }

    override def next(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Option[TimedOffset]] = {
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

  // A pause between triggers is no outage. The second batch may use the response to a request of the first batch.
  private val Batches = 3

  /** A cluster or partition without a response in time.
    *
    * @param batches
    *   the number of batches without its rows
    */
  final private[dynamic] case class Outage(since: Instant, batches: Int = 0) {
    def next: Outage = copy(batches = batches + 1)

    def isOver(now: Instant, timeout: Duration): Boolean = batches >= Batches && !now.isBefore(since.plus(timeout))
  }

  /** Returns None if batches do not end at one time. A batch query reads all rows in one batch. */
  def of(
      settings: DynamicSettings,
      admission: ClusterAdmission,
      workers: ClusterWorkers,
      context: EnumeratorContext,
      delay: DelayNeeded
  ): Option[AlignedClusters] = settings.base.eventTime.filter(_ => context.mode == ReadMode.Stream).map { eventTime =>
    val times = new EventTimeAdmission(eventTime, context.clock, context.steady, () => delay.delivered)
    new AlignedClusters(settings, admission, times, workers, context.steady)
  }
}
