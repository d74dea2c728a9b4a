// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.Duration

import splice.kafka.dynamic.life.cluster.LifeDocument
import splice.testkit.simulation.{Life, SimulatedTrigger}

/** Sequences of documents that random events rarely publish. During a sequence, all clusters are available.
  *
  * @param run
  *   runs the query; returns false if the query ends early
  */
final private[life] class LifeSequences(life: Life, world: LifeWorld, run: SimulatedTrigger => Boolean) {

  import LifeSequences._

  private val events = new LifeEvents(world)

  /** Removes one stream per document and run, more streams than the removal limit permits in most scenarios. */
  def removals(): Unit = {
    world.heal()
    val names = (1 to Streams).map(n => s"g$n")
    world.publish(world.valid.copy(streams = world.valid.streams ++ names.map(added), inactive = Set.empty))
    val _ = run(SimulatedTrigger.ProcessingTime(2))
    names.foreach { name =>
      remove(name)
      val _ = run(SimulatedTrigger.ProcessingTime(2))
    }
  }

  /** Adds a stream and removes it within one run. If progress is tracked asynchronously, a batch that is read again may
    * have both changes.
    */
  def brief(): Unit = {
    world.heal()
    world.publish(world.valid.copy(inactive = Set.empty))
    (1 to Runs).map(n => s"q$n").foreach { name =>
      val stream = added(name)
      during {
        case 1 =>
          world.publish(world.valid.copy(streams = world.valid.streams + stream))
          world.physical(LifeDocument.topics(Seq(stream))).foreach { case (id, topic) => world.write(id, topic, 0, 3) }
        case 3 => remove(name)
        // A trigger without new records has no batch.
        case _ => events.write()
      }
    }
  }

  /** Moves the mirrored stream, and replaces the move after its time, before the clusters have returned the offsets. */
  def replaced(): Unit = {
    world.heal()
    world.publish(events.moved(world.valid.copy(inactive = Set.empty)))
    val _ = run(SimulatedTrigger.ProcessingTime(2))
    life.clock.advance(Duration.ofMinutes(5))
    Seq(0, 1).foreach(partition => world.write("c0", "m", partition, 2))
    world.publish(events.moved(world.valid))
    val _ = run(SimulatedTrigger.ProcessingTime(2))
  }

  /** Returns a stale document after the query has received documents that differ only in their generations. */
  def stale(): Unit = {
    world.heal()
    during {
      case 2 => (1 to 2).foreach(_ => world.publish(world.valid))
      case 4 =>
        life.met("the metadata service returns an old document")
        world.publishOutdated(world.valid.copy(
          generation = world.newest - 1,
          streams = world.valid.streams + added("s9")
        ))
      case _ => ()
    }
  }

  /** Runs the query. Calls a function after each plan with the number of plans. */
  private def during(event: Int => Unit): Unit = {
    world.advances = 0
    world.whenAdvanced = event
    val _ = run(SimulatedTrigger.ProcessingTime(Triggers))
    world.whenAdvanced = _ => ()
  }

  private def added(name: String) =
    name -> LifeDocument.stream(name, life.chance.oneOf(world.valid.clusters.keys.toSeq) -> s"$name-x")

  private def remove(name: String): Unit =
    world.publish(world.valid.copy(streams = world.valid.streams - name))
}

private object LifeSequences {

  /** Number of removed streams. In most scenarios, these streams have more than half of all topics. */
  private val Streams = 8

  private val Runs = 3

  /** Number of triggers of a run, in which a stream is added, read, removed and drained. */
  private val Triggers = 8
}
