// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Clock

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.change._
import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.{DynamicErrors, StreamMetadata}
import splice.kafka.split.KafkaPosition

/** Brings a position up to what is known now, change by change; each is durable before the position says its number.
  *
  * @param questions
  *   what clusters are asked for that
  */
final private[dynamic] class ChangeDriver(
    log: ChangeLog,
    rules: ChangeRules,
    discovery: MetadataDiscovery,
    clock: Clock,
    questions: ChangeQuestions
) {

  import ChangeDriver._

  private var asked   = false
  private var heard   = Option.empty[StreamMetadata]
  private var fresh   = false
  private var looked  = false
  private var news    = Option.empty[StreamMetadata]
  private var refused = Option.empty[Refusal]
  private var told    = Option.empty[(Option[StreamMetadata], SortedSet[String])]

  /** Answers that were not applied, in this run. */
  var refusals: Int = 0

  /** The clusters that must be asked before a change is made, and that do not answer. */
  def waitsFor: SortedSet[String] = questions.waitsFor

  /** What held when the checkpoint began: the first answer. */
  def first(): AppliedMetadata = log.find(0).getOrElse {
    val found = discovery.now()
    asked = true
    looked = true
    heard = Some(found)
    discovery.requireAll(found)
    rules.refusal(AppliedMetadata.Nothing, found).orElse(rules.cutovers.policy(found)).foreach(refusal =>
      throw DynamicErrors.refused(refusal)
    )
    append(AppliedMetadata(0, found.generation, found.clusters, found.streams))
  }

  /** What a run goes by before it has a position. */
  def current(): AppliedMetadata = log.last.getOrElse(first())

  /** The same with clusters as they are reached now: a batch that is read again may have been planned when other passwords held. */
  def reached(here: AppliedMetadata): AppliedMetadata = {
    hear()
    val renewed = for {
      found <- heard
      clusters = here.clusters.map { case (name, cluster) => name -> found.clusters.getOrElse(name, cluster) }
      if clusters != here.clusters && rules.refusal(here, found).isEmpty
    } yield here.copy(clusters = clusters)
    renewed.getOrElse(here)
  }

  /** The position with all that has changed since, and what holds then.
    *
    * @param fixed
    *   whether the run reads what is known when it begins, and looks once only
    */
  def settle(
      at: DynamicPosition,
      fixed: Boolean,
      availability: String => Availability
  ): (DynamicPosition, AppliedMetadata) = {
    if (!fixed || !looked) look()
    questions.begin()
    val settled = go(at, availability)
    tellWaiting()
    settled
  }

  /** Writes down where topics end that are to be drained. */
  def drain(
      at: DynamicPosition,
      here: AppliedMetadata,
      ends: SortedMap[ClusterTopic, KafkaPosition]
  ): (DynamicPosition, AppliedMetadata) = {
    val next = append(rules.drain(here, ends))
    ChangeText.gone(here, next, at).foreach(line => logger.warn(line))
    moved(at, next) -> next
  }

  @tailrec private def go(
      at: DynamicPosition,
      availability: String => Availability
  ): (DynamicPosition, AppliedMetadata) = {
    val here = log(at.change)
    next(here, at, availability) match {
      case Some(change) => go(moved(at, change), availability)
      case None         => at -> here
    }
  }

  private def next(
      here: AppliedMetadata,
      at: DynamicPosition,
      availability: String => Availability
  ): Option[AppliedMetadata] =
    log.find(here.number + 1)
      .orElse(take(here, at))
      .orElse(questions.cut(here, at).orElse(rules.settle(here, at, clock.instant(), availability)).map(make(here, _)))

  /** What a new answer comes to, if there is one that says something else. It is kept while a cluster must be asked that is away. */
  private def take(here: AppliedMetadata, at: DynamicPosition): Option[AppliedMetadata] = {
    news = news.filterNot(here.says)
    news.flatMap { found =>
      val refusal = rules.refusal(here, found).orElse(rules.cutovers.refusal(here, found, at))
      refusal.map(Left(_)).orElse(questions.take(here, found, at)) match {
        case Some(Left(why)) =>
          news = None
          refuse(why)
          None
        case Some(Right(change)) =>
          news = None
          refused = None
          val gone = here.streamOf.keySet -- change.streamOf.keySet
          if (rules.failsOnRemoval && gone.nonEmpty) throw DynamicErrors.removed(gone)
          Some(make(here, change))
        case None => None
      }
    }
  }

  private def append(change: AppliedMetadata): AppliedMetadata = log.append(change.copy(at = Some(clock.instant())))

  private def look(): Unit = {
    if (looked) discovery.requireAnswers()
    looked = true
    hear()
    if (fresh) news = heard
    fresh = false
  }

  private def hear(): Unit = {
    val found =
      if (asked) discovery.news()
      else {
        asked = true
        // The last good answer is in the checkpoint, so that a service that is down keeps no query from starting.
        try Some(discovery.now())
        catch {
          case NonFatal(e) =>
            logger.warn(s"Going on with what was known of streams before: ${e.getMessage}")
            None
        }
      }
    heard = found.orElse(heard)
    fresh ||= found.nonEmpty
  }

  private def make(here: AppliedMetadata, change: AppliedMetadata): AppliedMetadata = {
    val made = append(change)
    questions.made()
    tell(here, made)
    made
  }

  private def moved(at: DynamicPosition, change: AppliedMetadata): DynamicPosition = {
    val left = at.clusters.map { case (name, position) =>
      val read = change.read.getOrElse(name, Set.empty[String])
      name -> position.topics.filterNot(read).foldLeft(position)(_ without _)
    }
    val back = change.resumed.filterNot { case (topic, _) => left.get(topic.cluster).exists(_.hasTopic(topic.topic)) }
    back.foldLeft(DynamicPosition.of(change.number, left)) { case (position, (topic, start)) =>
      position.updated(topic.cluster, position.of(topic.cluster).and(start))
    }
  }

  private def refuse(refusal: Refusal): Unit = {
    refusals += 1
    if (!refused.contains(refusal)) logger.warn(DynamicErrors.refused(refusal).getMessage)
    refused = Some(refusal)
  }

  private def tellWaiting(): Unit = {
    val now = if (waitsFor.isEmpty) None else Some(news -> waitsFor)
    if (now != told) now.foreach { case (answer, clusters) =>
      val what = if (answer.isEmpty) "A stream whose time to go over has come" else "What is new of streams"
      logger.warn(
        s"$what waits: a cluster that must be asked for it does not answer, ${clusters.mkString(", ")}. Until then " +
          "streams are read as before. Another answer of the metadata service may say it otherwise."
      )
    }
    told = now
  }

  private def tell(before: AppliedMetadata, now: AppliedMetadata): Unit = {
    ChangeText(before, now).foreach(line => logger.info(s"Change ${now.number}: $line"))
    ChangeText.givenUp(before, now).foreach(line => logger.warn(line))
  }
}

private[dynamic] object ChangeDriver {
  private val logger = LoggerFactory.getLogger(classOf[ChangeDriver])
}
