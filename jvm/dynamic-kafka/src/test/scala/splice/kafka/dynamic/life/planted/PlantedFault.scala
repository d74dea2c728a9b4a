// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.planted

import java.time.{Clock, Instant}

import org.apache.hadoop.fs.Path

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.life.LifePlan
import splice.kafka.dynamic.life.cluster.PassingCluster
import splice.kafka.internal.enumerator.ClusterEnumerator
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.runtime.SideLog
import splice.source.{Limits, LogPartition}
import splice.testkit.simulation.SimulatedClock

/** Hooks of a planted fault. The defaults have no effect.
  *
  * @param fits
  *   true for scenarios that may have the situation of the fault
  * @param timed
  *   fault of batches in real-time mode
  * @param cluster
  *   wraps the enumerator of a cluster, on the thread of the cluster
  * @param comparesPartitions
  *   true if a response with the states of topics contains new partitions
  * @param sideLog
  *   wraps the side log of the source
  * @param durations
  *   returns the clock of durations
  */
final private[life] case class PlantedFault(
    fits: LifePlan => Boolean = _ => true,
    timed: TimedFault = TimedFault.None,
    cluster: ClusterEnumerator => ClusterEnumerator = identity,
    comparesPartitions: Boolean = true,
    sideLog: SideLog => SideLog = identity,
    durations: SimulatedClock => Clock = _.steady
)

private[life] object PlantedFault {

  val None: PlantedFault = PlantedFault()

  /** Name of each fault. */
  val all: Seq[(String, PlantedFault)] = TimedFault.all.map { case (name, fault) =>
    name -> PlantedFault(fits = _.timed, timed = fault)
  } ++ Seq(
    "an unavailable cluster fails a batch"           -> PlantedFault(!_.fails, cluster = new Failing(_)),
    "a drain ends at the ends of an earlier request" -> PlantedFault(!_.drops, cluster = new Earlier(_)),
    "a drain waits for deleted partitions"           -> PlantedFault(isDeletedInDrain, cluster = new Existing(_)),
    "a drain lacks partitions that were created after the last discovery" ->
      PlantedFault(!_.drops, cluster = new Unrefreshed(_), comparesPartitions = false),
    "the position of a removed topic is not stored" -> PlantedFault(sideLog = new Forgetful(_)),
    "durations are measured with the wall clock"    -> PlantedFault(_.steps, durations = identity)
  )

  /** True if a topic is deleted or truncated during its drain, and the next topic of its stream waits for the drain. */
  private def isDeletedInDrain(plan: LifePlan): Boolean = plan.isolates && plan.lossy && plan.ordered && !plan.drops

  /** Fails the query if the cluster does not respond. */
  final private class Failing(inner: ClusterEnumerator) extends PassingCluster(inner) {
    override def advance(from: KafkaPosition, limits: Limits): KafkaPosition =
      try super.advance(from, limits)
      catch {
        case e: SpliceException if KafkaErrors.isUnreachable(e) =>
          throw DynamicErrors.unavailable(Seq("planted"), Instant.EPOCH, e)
      }
  }

  /** Ends a drain at the ends of the previous request, if the position has not changed since that request. */
  final private class Earlier(inner: ClusterEnumerator) extends PassingCluster(inner) {
    private var isEnding = false
    private var previous = Option.empty[(KafkaPosition, KafkaPosition)]
    private var reused   = Option.empty[KafkaPosition]

    override def refresh(): Unit = isEnding = true

    override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
      reused = previous.collect { case (`from`, ends) if isEnding => ends }
      if (isEnding && reused.isEmpty) super.refresh()
      isEnding = false
      val until = reused.getOrElse(super.advance(from, limits))
      previous = Some(from -> until)
      until
    }

    override def written(partitions: Set[LogPartition]): Map[LogPartition, Long] =
      reused.fold(super.written(partitions))(ends => partitions.flatMap(p => ends.get(p).map(p -> _)).toMap)
  }

  /** Does not detect that a partition of a drain was deleted. */
  final private class Existing(inner: ClusterEnumerator) extends PassingCluster(inner) {
    override def isMember(at: KafkaPosition): String => Boolean = _ => true
  }

  /** Does not request the partitions of a removed topic. */
  final private class Unrefreshed(inner: ClusterEnumerator) extends PassingCluster(inner) {
    override def refresh(): Unit = ()
  }

  /** Stores the states of removed topics without their positions. */
  final private class Forgetful(log: SideLog) extends SideLog {
    override def get(key: String): Option[Seq[String]]                         = log.get(key)
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
      log.getOrCreate(key)(if (key.startsWith("change-")) decide.map(Position.replaceAllIn(_, "$1\"{}\"")) else decide)
    override def keys(prefix: String): Seq[String] = log.keys(prefix)
    override def remove(key: String): Unit         = log.remove(key)
    override def scope(name: String): SideLog      = log.scope(name)
    override def folder(name: String): Path        = log.folder(name)
  }

  /** Position in the state of a removed topic. */
  private val Position = """("position":)"(?:[^"\\]|\\.)*"""".r
}
