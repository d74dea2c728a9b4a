// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.source.internal.entries.Json
import splice.source.runtime.ProgressMetric

/** Topics of streams that do not exist on their clusters, by the last response of each cluster. Only the query's thread
  * uses this object.
  */
final private[dynamic] class MissingTopics(clock: Clock) {

  import MissingTopics._

  private var known  = SortedMap.empty[String, SortedSet[String]]
  private var topics = SortedMap.empty[String, Seq[ClusterTopic]]
  private var warned = Map.empty[String, Instant]

  /** Updates the missing topics from responses. Logs a warning per stream with missing topics, at most once per
    * interval.
    */
  def update(applied: AppliedMetadata, responses: SortedMap[String, ClusterResponse]): Unit = {
    known = (known ++ responses.map { case (name, reach) => name -> reach.missing })
      .filter(c => applied.read.contains(c._1))
    topics = SortedMap.from((for {
      (cluster, names) <- known.toSeq
      name             <- names.toSeq
      topic = ClusterTopic(cluster, name)
      stream <- applied.streamOf.get(topic)
    } yield stream -> topic).groupMap(_._1)(_._2))
    val now = clock.instant()
    warned = warned.filter { case (stream, at) => topics.contains(stream) && now.isBefore(at.plus(Interval)) }
    (topics -- warned.keySet).foreach { case (stream, missing) =>
      logger.warn(
        s"Stream '$stream' has topics in the metadata that do not exist: ${missing.take(Shown).mkString(", ")}" +
          s"${if (missing.size > Shown) s" and ${missing.size - Shown} more" else ""}. Create the topics, or correct the metadata."
      )
      warned += stream -> now
    }
  }

  /** Returns the number of missing topics, and some of their names. */
  def figures: Seq[(String, String)] = {
    val shown = topics.toSeq.flatMap { case (stream, missing) => missing.map(stream -> _) }.take(Shown)
    val names = SortedMap.from(shown.groupMap(_._1)(_._2)).map { case (stream, missing) =>
      stream -> Json.array(missing.map(topic => Json.text(topic.toString)))
    }
    Seq(ProgressMetric.MissingTopics -> topics.valuesIterator.map(_.size).sum.toString) ++
      Option.when(names.nonEmpty)(ProgressMetric.MissingTopicNames -> Json.write(Json.obj(names.toSeq: _*)))
  }
}

private[dynamic] object MissingTopics {

  private val logger = LoggerFactory.getLogger(classOf[MissingTopics])

  /** Minimum time between two warnings about one stream. */
  val Interval: Duration = Duration.ofMinutes(5)

  /** Maximum number of names in a warning or a figure. */
  val Shown = 20
}
