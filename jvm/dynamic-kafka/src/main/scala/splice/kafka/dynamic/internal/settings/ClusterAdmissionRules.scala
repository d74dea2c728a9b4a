// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.settings

import splice.kafka.dynamic.internal.options.DynamicOptions
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.internal.admission.{AdmissionFloor, AdmissionRules}
import splice.kafka.internal.options.AdmissionOptions
import splice.source.errors.OptionErrors
import splice.source.options.{SourceOption, SourceOptions}

/** Rules by which the topics of all clusters share a batch.
  *
  * @param topics
  *   rules by topic name, on every cluster
  */
final private[splice] case class ClusterAdmissionRules(
    topics: AdmissionRules,
    streamWeights: Map[String, Double],
    clusterWeights: Map[String, Double],
    streamFloors: Map[String, Double],
    clusterFloors: Map[String, Double]
) {

  /** Returns the rules for the topics that are read now. Topics have names with their cluster. */
  def apply(applied: AppliedMetadata): AdmissionRules = {
    val streams = applied.streamOf
    val weights = streams.map { case (topic, stream) =>
      topic.toString -> topics.weight(topic.topic) * streamWeights.getOrElse(stream, 1.0) *
        clusterWeights.getOrElse(topic.cluster, 1.0)
    }
    def names(of: String => Boolean): Set[String] =
      applied.read.iterator.flatMap { case (cluster, listed) => listed.iterator.map(cluster -> _) }.collect {
        case (cluster, topic) if of(topic) => s"$cluster/$topic"
      }.toSet
    val byTopic   = topics.floors.map(floor => floor.copy(topics = names(floor.topics)))
    val byStream  = floors(streamFloors)(name => streams.collect { case (t, `name`) => t.toString }.toSet)
    val byCluster =
      floors(clusterFloors)(name => applied.read.get(name).fold(Set.empty[String])(_.map(t => s"$name/$t").toSet))
    topics.copy(weights = weights.filter(_._2 != 1.0).toMap, floors = byTopic ++ byStream ++ byCluster)
  }

  private def floors(parts: Map[String, Double])(topics: String => Set[String]): Seq[AdmissionFloor] =
    parts.toSeq.sorted.map { case (name, part) => AdmissionFloor(part, topics(name)) }
}

private[splice] object ClusterAdmissionRules {

  import DynamicOptions._

  /** Creates the rules from options.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if options conflict
    */
  def apply(options: SourceOptions, topics: AdmissionRules): ClusterAdmissionRules = {
    def of(option: SourceOption[Map[String, Double]]) = options.find(option).getOrElse(Map.empty[String, Double])
    val floors                                        = Seq(AdmissionOptions.TopicFloors, StreamFloors, ClusterFloors)
    if (floors.map(of(_).values.sum).sum > 1)
      throw OptionErrors.conflict(
        floors.filter(of(_).nonEmpty).map(o => options.name(o.key)),
        "the sum of the shares is more than 1. Set shares that add up to at most 1"
      )
    ClusterAdmissionRules(topics, of(StreamWeights), of(ClusterWeights), of(StreamFloors), of(ClusterFloors))
  }
}
