// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import org.slf4j.LoggerFactory

import splice.kafka.KafkaErrors
import splice.kafka.dynamic.change.{AppliedMetadata, Leaving, LeavingPlan}
import splice.kafka.dynamic.split.ClusterTopic
import splice.kafka.split.KafkaPosition
import splice.source.{LogPartition, SpliceException}

/** Holds topics that are left at a time to the records before it. */
final private[dynamic] class TimeCut(workers: ClusterWorkers) {

  /** The part of `until` that may be read of a cluster. It has just answered how far that is, so that every record up to there is
    * known to it when it is asked about times.
    */
  def apply(applied: AppliedMetadata, cluster: String, from: KafkaPosition, until: KafkaPosition): KafkaPosition = {
    val times = applied.leaving.collect {
      case (ClusterTopic(`cluster`, topic), Leaving(_, _, LeavingPlan.Until(at), _)) =>
        topic -> at.millis
    }
    val asked = until.offsets.collect {
      case (p, offset) if times.contains(p.topic) && from.get(p).forall(_ < offset) => p -> times(p.topic)
    }
    if (asked.isEmpty) until else firsts(cluster, asked).fold(held(asked.keySet, from, until))(capped(_, until))
  }

  private def firsts(cluster: String, asked: Map[LogPartition, Long]): Option[Map[LogPartition, Long]] =
    try
      workers.find(cluster).map(_(_.atTime(asked)).map { case (p, record) => p -> record.offset })
    catch {
      case e: SpliceException if KafkaErrors.isOfCluster(e) =>
        TimeCut.logger.warn(s"A batch goes without topics of cluster $cluster that are left at a time: ${e.getMessage}")
        None
    }

  private def capped(firsts: Map[LogPartition, Long], until: KafkaPosition): KafkaPosition =
    until.copy(offsets = until.offsets.map { case (p, offset) =>
      p -> firsts.get(p).fold(offset)(math.min(_, offset))
    })

  private def held(
      partitions: collection.Set[LogPartition],
      from: KafkaPosition,
      until: KafkaPosition
  ): KafkaPosition = until.copy(offsets = until.offsets.flatMap { case (p, offset) =>
    if (partitions(p)) from.get(p).map(p -> _) else Some(p -> offset)
  })
}

private[dynamic] object TimeCut {
  private val logger = LoggerFactory.getLogger(classOf[TimeCut])
}
