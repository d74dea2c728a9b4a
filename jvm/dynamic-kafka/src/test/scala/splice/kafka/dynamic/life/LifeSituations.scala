// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import splice.kafka.dynamic.life.oracle.{LifeChange, LifeFailures}
import splice.testkit.simulation.CrashPoint

/** Situations of a scenario. */
final private[life] class LifeSituations(world: LifeWorld) {

  private type Place = (String, String)

  /** Records the situations of a durable change after the start.
    *
    * @param ever
    *   topics of all changes before this change
    */
  def changed(before: LifeChange, change: LifeChange, ever: collection.Set[Place]): Unit = {
    val (was, is)          = (streams(before), streams(change))
    val (added, left)      = (is.keySet -- was.keySet, was.keySet -- is.keySet)
    val (old, current)     = (was.keySet.map(_._1), is.keySet.map(_._1))
    val clusters           = ever.map(_._1)
    val (begun, ended)     = (current -- old, old -- current)
    val (fresh, returned)  = added.partition(!ever(_))
    val (unused, reused)   = begun.partition(!clusters(_))
    val (sources, targets) = (left.map(was), added.map(is))
    val situations         = Seq(
      "a topic is added"                -> fresh.nonEmpty,
      "a topic is removed"              -> left.nonEmpty,
      "a topic returns"                 -> returned.nonEmpty,
      "a stream moves to another topic" -> sources.exists(targets),
      "a cluster is added"              -> unused.nonEmpty,
      "a cluster is removed"            -> ended.nonEmpty,
      "a cluster returns"               -> reused.nonEmpty,
      "a topic waits for its start"     -> change.states.valuesIterator.contains("waiting"),
      "a removed topic has no start"    -> change.states.valuesIterator.contains("pending"),
      "a topic is drained"              -> change.states.valuesIterator.contains("draining")
    )
    situations.foreach { case (situation, occurs) => if (occurs) world.life.met(situation) }
  }

  /** Records the kills of the driver and the effects of faults on requests. */
  def ended(): Unit = {
    if (world.life.crashPoints.nonEmpty) world.life.met("the driver is killed")
    world.life.crashPoints.foreach(point => world.life.met(s"the driver is killed $point"))
    world.clusters.values.foreach(_.faults.effects.foreach(world.life.met))
  }

  /** Returns the stream of each topic, by the id of the cluster. */
  private def streams(of: LifeChange): Map[Place, String] =
    of.topics.map { case ((cluster, topic), stream) => (world.names(cluster), topic) -> stream }
}

private[life] object LifeSituations {

  /** Situations that many scenarios have. */
  private val Frequent = Seq(
    "a batch is ended by a time",
    "a time ends a batch of ranges with an end",
    "a task reads without a cluster",
    "a stop changes",
    "a topic is added",
    "a topic is removed",
    "a stream moves to another topic",
    "a topic is drained",
    "a topic is abandoned",
    "records are lost",
    "a request fails",
    "a response has a lower end",
    "the wall clock is set back",
    "a cluster is unavailable for a run",
    "a cluster is unavailable for one trigger",
    "the driver is killed",
    LifeFailures.End
  )

  /** Situations that few scenarios have. */
  private val Rare = Seq(
    "a stream with a stop moves by a cutover",
    "a move is replaced after its time",
    "a topic waits for its start",
    "a removed topic has no start",
    "a topic returns",
    "a cluster is added",
    "a cluster is removed",
    "a cluster returns",
    "a request hangs",
    "a response is late",
    "a cluster is late for one trigger",
    "a topic is deleted",
    "a topic is recreated",
    "a topic is truncated",
    "a topic is deleted during its drain",
    "a topic is truncated during its drain",
    "the metadata service fails",
    "the metadata service returns an old document",
    LifeFailures.Start,
    LifeFailures.Replay
  ) ++ CrashPoint.all.map(point => s"the driver is killed $point")

  /** Minimum number of scenarios that must have each situation.
    *
    * @param lives
    *   number of scenarios, at least 1,000
    */
  def least(lives: Int): Seq[(String, Int)] = Frequent.map(_ -> lives / 100) ++ Rare.map(_ -> lives / 500)
}
