// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.planted

import java.io.IOException
import java.time.{Clock, Instant}
import java.util.{Collections, WeakHashMap}

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import splice.hybrid.internal.split.HybridPosition
import splice.kafka.internal.cluster.ClusterClient
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.simulation.leg.Passing
import splice.source.options.FailOrWarn
import splice.source.runtime.{Report, SideLog}
import splice.source.{Limits, SplitEnumerator, SplitRange}
import splice.testkit.internal.simulation.SimulatedCluster
import splice.testkit.simulation.TaskRows

/** Injected faults that need a second driver, a late task, a rollback, a backward clock, failing storage or a later
  * row for detection.
  */
object PlantedDriverFaults {

  /** Name of each fault, with its situation. */
  val all: Seq[(String, Faults)] = Seq(
    "two drivers: an entry of another driver is replaced"                      -> Faults(sideLog = new Replacing(_)),
    "late tasks: two readers share a consumer"                                 -> Faults(sharesConsumers = true),
    "rollback: reading continues at the last position that was ever committed" -> Faults(kafka = remembering()),
    "clock: no row is read until the time exceeds the last time"               -> Faults(paced = new Paced(_, _)),
    "storage: a failed removal fails the query"                                -> Faults(sideLog = new Removing(_)),
    "storage: a failed write counts as written"                                -> Faults(sideLog = new Trusting(_)),
    "AvailableNow: a log is read to its current end"                           -> Faults(kafka = unfrozen),
    "stop: the last planned batch counts as committed"                         -> Faults(hybrid = new MisroutedStop(_)),
    "retention: a rule by time checks no gap"                -> Faults(leg = _.copy(onGap = FailOrWarn.Warn)),
    "retention: a log that begins at the position has a gap" -> Faults(kafka = refusing),
    "replay: a reader drops a row where rows may be lost"    -> Faults(rows = new Dropping(_, _))
  )

  private def unfrozen(inner: SplitEnumerator[KafkaPosition], metadata: ClusterClient, cluster: SimulatedCluster) =
    new Passing[KafkaPosition](inner) {
      override def freeze(): Unit = ()
    }

  private def refusing(inner: SplitEnumerator[KafkaPosition], metadata: ClusterClient, cluster: SimulatedCluster) =
    new Passing[KafkaPosition](inner) {
      override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
        val first = metadata.earliest(from.offsets.keySet.toSet).filter(_._2 > 0L)
        if (first.exists { case (p, offset) => from.get(p).contains(offset) })
          throw splice.kafka.internal.errors.KafkaErrors.dataLoss("planted", Nil)
        super.advance(from, limits)
      }
    }

  private def remembering() = {
    val furthest = Collections.synchronizedMap(new WeakHashMap[SimulatedCluster, KafkaPosition])
    (inner: SplitEnumerator[KafkaPosition], _: ClusterClient, cluster: SimulatedCluster) =>
      new Passing[KafkaPosition](inner) {
        override def committed(until: KafkaPosition): Unit = {
          super.committed(until)
          val _ = furthest.merge(cluster, until, (old, now) => if (old.precedes(now)) now else old)
        }
        override def splits(from: KafkaPosition, until: KafkaPosition): Seq[SplitRange] = {
          val done = Option(furthest.get(cluster))
          super.splits(from, until).collect {
            case r: KafkaSplitRange =>
              r.copy(from = math.max(r.from, done.flatMap(_.get(r.partition)).getOrElse(0L)))(r.topicId, r.generation)
          }.filter(r => r.from < r.until)
        }
      }
  }

  final private class Replacing(log: SideLog) extends PassingSideLog(log) {
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
      val decided = decide
      remove(key)
      super.getOrCreate(key)(decided)
    }
    override def scope(name: String): SideLog = new Replacing(log.scope(name))
  }

  final private class Trusting(log: SideLog) extends PassingSideLog(log) {
    private val trusted                                                        = mutable.Map.empty[String, Seq[String]]
    override def get(key: String): Option[Seq[String]]                         = super.get(key).orElse(trusted.get(key))
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
      lazy val decided = decide
      try super.getOrCreate(key)(decided)
      catch {
        case _: IOException =>
          trusted += key -> decided
          decided
      }
    }
    override def scope(name: String): SideLog = new Trusting(log.scope(name))
  }

  final private class Removing(log: SideLog) extends PassingSideLog(log) {
    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = {
      if (key.startsWith("slots-")) {
        val _ = super.getOrCreate("unneeded")(Seq("planted"))
        remove("unneeded")
      }
      super.getOrCreate(key)(decide)
    }
    override def scope(name: String): SideLog = new Removing(log.scope(name))
  }

  final private class Paced(inner: SplitEnumerator[HybridPosition], clock: Clock)
      extends Passing[HybridPosition](inner) {
    private var last = Instant.MIN

    override def freeze(): Unit = {
      super.freeze()
      last = clock.instant()
    }

    override def advance(from: HybridPosition, limits: Limits): HybridPosition = {
      val now = clock.instant()
      if (now.isBefore(last)) from
      else {
        last = now
        super.advance(from, limits)
      }
    }
  }

  final private class MisroutedStop(inner: SplitEnumerator[HybridPosition]) extends Passing[HybridPosition](inner) {
    private var planned: Option[HybridPosition] = None

    override def advance(from: HybridPosition, limits: Limits): HybridPosition = {
      val until = super.advance(from, limits)
      planned = Some(until)
      until
    }

    override def stopped(last: => Option[HybridPosition]): Unit = super.stopped(planned.orElse(last))
  }

  /** Drops the first row of some readers. */
  final private class Dropping(inner: TaskRows, drops: Boolean) extends TaskRows {
    if (drops) { val _ = inner.next() }
    override def next(): Option[Long] = inner.next()
    override def reports: Seq[Report] = inner.reports
    override def close(): Unit        = inner.close()
  }
}

/** Forwards every call. */
class PassingSideLog(log: SideLog) extends SideLog {
  override def get(key: String): Option[Seq[String]]                         = log.get(key)
  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = log.getOrCreate(key)(decide)
  override def keys(prefix: String): Seq[String]                             = log.keys(prefix)
  override def remove(key: String): Unit                                     = log.remove(key)
  override def scope(name: String): SideLog                                  = new PassingSideLog(log.scope(name))
  override def folder(name: String): Path                                    = log.folder(name)
}
