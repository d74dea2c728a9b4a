// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.SortedSet

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.change.Rejection
import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.source.internal.entries.Json
import splice.source.runtime.ProgressMetric

/** Streams that a document changes together, and the generation of that document. Without streams: the whole document.
  */
final private[splice] case class StreamGroup(streams: Set[String], generation: Option[Long])

/** Groups of streams that Splice reads as before, because responses of clusters are missing, or because the document or
  * their part of the document is rejected.
  */
final private[splice] class WaitingGroups(clock: Clock) {

  import WaitingGroups._

  private var waiting  = Map.empty[StreamGroup, SortedSet[String]]
  private var silent   = Map.empty[StreamGroup, SortedSet[String]]
  private var rejected = Map.empty[Set[String], Reported]
  private var invalid  = Option.empty[Reported]

  /** Number of documents and parts of documents that were rejected in this run. */
  var rejections: Int = 0

  /** Returns the clusters that groups wait for, and that do not respond. */
  def waitsFor: SortedSet[String] = silent.valuesIterator.flatten.to(SortedSet)

  /** Replaces the waiting groups, each with a cluster that has not responded. Logs a warning if a request was sent to
    * that cluster.
    *
    * @param sent
    *   returns true if a request was sent to a cluster; an inactive cluster receives no request
    */
  def update(all: Iterable[(StreamGroup, String)], sent: String => Boolean): Unit = {
    def byGroup(pairs: Iterable[(StreamGroup, String)]) = pairs.groupMap(_._1)(_._2).map { case (group, clusters) =>
      group -> clusters.to(SortedSet)
    }
    val before = silent
    waiting = byGroup(all)
    silent = byGroup(all.filter { case (_, cluster) => sent(cluster) })
    (silent.toSet -- before).foreach { case (group, clusters) =>
      logger.warn(
        s"Streams ${group.streams.toSeq.sorted.mkString(", ")} wait for clusters that do not respond: " +
          s"${clusters.mkString(", ")}. Until these clusters respond, Splice reads the streams as before. Another document of the metadata " +
          "service may change or remove the cutover, the start or the stop."
      )
    }
  }

  /** Rejects the part of a document that belongs to a group. */
  def reject(group: StreamGroup, reason: Rejection): Unit = {
    val rejection = warned(rejected.get(group.streams), group.generation, reason)
    rejected = rejected.updated(group.streams, rejection)
  }

  /** Rejects the last document of the metadata service if the document is not valid. Groups of earlier documents
    * continue to wait.
    *
    * @param error
    *   the error of the document; None if the document is valid
    */
  def rejectInvalid(error: Option[Rejection]): Unit = invalid = error.map(warned(invalid, None, _))

  /** Counts a new rejection once. Logs a warning, at most once per interval while the rejection lasts. */
  private def warned(before: Option[Reported], generation: Option[Long], reason: Rejection): Reported = {
    val now  = clock.instant()
    val same = before.filter(_.reason == reason)
    val last = same.map(_.warned).filter(at => now.isBefore(at.plus(Interval)))
    if (same.isEmpty) rejections += 1
    if (last.isEmpty) logger.warn(DynamicErrors.rejected(reason).text)
    Reported(generation, reason, last.getOrElse(now))
  }

  /** Keeps only rejections that still apply. */
  def keepRejected(isRejected: Set[String] => Boolean): Unit = rejected = rejected.filter(r => isRejected(r._1))

  /** Returns the groups of streams that wait, each with the clusters that have not responded. */
  def allWaiting: Seq[(StreamGroup, SortedSet[String])] = waiting.toSeq.sortBy(_._1.streams.minOption)

  /** Returns the rejected groups of streams, each with the reason. */
  def allRejected: Seq[(
      StreamGroup,
      Rejection
  )] = (rejected.toSeq ++ invalid.map(Set.empty[String] -> _)).sortBy(_._1.minOption).map { case (streams, rejection) =>
    StreamGroup(streams, rejection.generation) -> rejection.reason
  }

  /** Returns the groups as a figure; None without groups. */
  def figures: Option[(String, String)] = {
    val all = waiting.toSeq.map { case (group, clusters) => group -> ("waitsFor" -> names(clusters)) } ++
      (rejected.toSeq ++ invalid.map(Set.empty[String] -> _)).map { case (streams, rejection) =>
        val text = DynamicErrors.rejected(rejection.reason).text
        StreamGroup(streams, rejection.generation) ->
          ("rejected" -> Json.text(if (text.length > Longest) s"${text.take(Longest)}…" else text))
      }
    Option.when(all.nonEmpty) {
      val shown = all.sortBy(_._1.streams.minOption).take(Shown).map { case (group, why) =>
        Json.obj(
          Seq("streams" -> names(group.streams.toSeq.sorted)) ++
            group.generation.map("generation" -> Json.number(_)) :+ why: _*
        )
      }
      ProgressMetric.WaitingGroups -> Json.write(Json.array(shown))
    }
  }

  private def names(values: Iterable[String]) = Json.array(values.take(Shown).map(Json.text).toSeq)
}

private[splice] object WaitingGroups {
  private val logger = LoggerFactory.getLogger(classOf[WaitingGroups])

  /** Minimum time between two warnings about one rejection. */
  val Interval: Duration = Duration.ofMinutes(5)

  final private case class Reported(generation: Option[Long], reason: Rejection, warned: Instant)

  // The limits keep the progress of a query small. The log contains the whole text.
  val Shown           = 10
  private val Longest = 300
}
