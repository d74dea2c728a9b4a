// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.planted

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import splice.files.internal.enumerator.FilesPosition
import splice.hybrid.internal.split.HybridPosition
import splice.kafka.internal.cluster.{ClusterClient, LogDescription, TimedOffset}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.simulation.leg.Passing
import splice.simulation.{ChainPlan, Shape}
import splice.source.log.Coverage
import splice.source.runtime.SideLog
import splice.source.{Limits, LogPartition, SplitEnumerator, SplitRange}
import splice.testkit.internal.simulation.{ForgetfulSideLog, SimulatedCluster, SimulatedPartition}

/** Injected faults that break rules of the design from outside. Each fault loses or duplicates rows, blocks the query,
  * or reads from a wrong position.
  */
object PlantedFaults {

  /** Number and name of each fault. */
  val all: Seq[(String, Faults)] = Seq(
    "1: a later partition begins at the start of the log when the batch is planned" -> Faults(kafka = startsToday),
    "1: an exact rule counts the last archive only" -> Faults(sideLog = new LastTally(_, "", mutable.Buffer.empty)),
    "2: a rule is evaluated again by every run"     -> forgetting(_.startsWith("hand-over-")),
    "2: the start of a leg is chosen again by every run" ->
      forgetting(_.startsWith("hand-over-")),
    "2: the holes of a history are forgotten by every later run" -> Faults(_.skips, sideLog = new Unfilled(_)),
    "2: files are listed again by every run"                     -> Faults(relistsFiles = true),
    "2: the end of a bounded log is taken again by every run"    -> forgetting(_.startsWith("ending-"), isRelay),
    "6: the end of the log is taken after the times"             -> Faults(!_.shape.exact, metadata = endsAfterTimes),
    "7: AvailableNow stops at the frozen end for any start"      -> Faults(kafka = frozenBelowStart),
    "7: AvailableNow waits for the least number of rows"         -> Faults(kafka = (inner, _, _) => new Waiting(inner)),
    "7: a switch without rows is not progress"                   -> Faults(hybrid = new SilentSwitch(_)),
    "8: the first offset is computed again"                      -> forgetting(_ == "initial"),
    "8: a plan extends to the current end of the log"            -> Faults(kafka = endsToday),
    "8: a commit has the position of the last plan"              -> Faults(hybrid = new MisroutedCommit(_)),
    "8: a replay is planned without a check of its topics"       -> Faults(isRelay, hybrid = new Unchecked(_)),
    "10: the slots depend on the current cluster"                -> forgetting(_.startsWith("slots-")),
    "11: a reused reader keeps its position"                     -> Faults(seeks = false),
    "12: a lower end is accepted immediately"                    -> Faults(kafka = lowerEnds),
    "12: a partition missing in a response is dropped"           -> Faults(kafka = vanished),
    "13: no request returns the ids of topics"   -> Faults(metadata = (inner, _) => new Nameless(inner)),
    "16: a changed file is read without a check" -> Faults(_.shape == Shape.Archives, checksFiles = false),
    "17: rows without a report are not counted"  -> Faults(files = new Reported(_))
  )

  // Such a chain has two bounded legs, and reads the log longer than other chains.
  private def isRelay(plan: ChainPlan): Boolean = plan.shape == Shape.Relay

  private def forgetting(forgets: String => Boolean, fits: ChainPlan => Boolean = _ => true): Faults =
    Faults(fits, sideLog = new ForgetfulSideLog(_, forgets))

  private def log(cluster: SimulatedCluster, p: LogPartition): SimulatedPartition =
    cluster.topic(p.topic).partitions(p.partition)

  private def startsToday(
      inner: SplitEnumerator[KafkaPosition],
      metadata: ClusterClient,
      cluster: SimulatedCluster
  ): SplitEnumerator[KafkaPosition] =
    new Passing[KafkaPosition](inner) {
      override def splits(from: KafkaPosition, until: KafkaPosition): Seq[SplitRange] = {
        val known = from
        super.splits(from, until).collect {
          case r: KafkaSplitRange if known.get(r.partition).isEmpty =>
            r.copy(from = log(cluster, r.partition).earliest)(r.topicId, r.generation)
          case r: KafkaSplitRange => r
        }.filter(r => r.from < r.until)
      }
    }

  private def endsToday(
      inner: SplitEnumerator[KafkaPosition],
      metadata: ClusterClient,
      cluster: SimulatedCluster
  ): SplitEnumerator[KafkaPosition] =
    new Passing[KafkaPosition](inner) {
      override def splits(from: KafkaPosition, until: KafkaPosition): Seq[SplitRange] =
        super.splits(from, until).collect { case r: KafkaSplitRange =>
          r.copy(until = math.max(r.until, log(cluster, r.partition).stableEnd))(r.topicId, r.generation)
        }
    }

  private def frozenBelowStart(
      inner: SplitEnumerator[KafkaPosition],
      metadata: ClusterClient,
      cluster: SimulatedCluster
  ): SplitEnumerator[KafkaPosition] =
    new Passing[KafkaPosition](inner) {
      private var frozen = Map.empty[LogPartition, Long]

      override def freeze(): Unit = {
        super.freeze()
        frozen = metadata.ends(metadata.describe().partitions.toSet)
      }

      override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
        val until = super.advance(from, limits)
        KafkaPosition.of(until.offsets.map { case (p, end) => p -> frozen.get(p).fold(end)(math.min(_, end)) })
      }
    }

  private def lowerEnds(
      inner: SplitEnumerator[KafkaPosition],
      metadata: ClusterClient,
      cluster: SimulatedCluster
  ): SplitEnumerator[KafkaPosition] =
    new Passing[KafkaPosition](inner) {
      override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
        val until = super.advance(from, limits)
        val ends  = metadata.ends(until.offsets.keySet.toSet)
        KafkaPosition.of(until.offsets.map { case (p, end) => p -> math.min(end, ends.getOrElse(p, end)) })
      }
    }

  private def vanished(
      inner: SplitEnumerator[KafkaPosition],
      metadata: ClusterClient,
      cluster: SimulatedCluster
  ): SplitEnumerator[KafkaPosition] =
    new Passing[KafkaPosition](inner) {
      override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
        val there = metadata.describe().partitions
        KafkaPosition.of(super.advance(from, limits).offsets.filter { case (p, _) => there(p) })
      }
    }

  private def endsAfterTimes(inner: ClusterClient, move: () => Unit): ClusterClient = new PassingMetadata(inner) {
    override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = {
      val found = super.atTime(millis)
      move()
      val ends = super.ends(millis.keySet -- found.keySet)
      found ++ ends.map { case (p, end) => p -> TimedOffset(end, millis(p)) }
    }
  }

  final private class Waiting(inner: SplitEnumerator[KafkaPosition]) extends Passing[KafkaPosition](inner) {
    override def advance(from: KafkaPosition, limits: Limits): KafkaPosition =
      super.advance(
        from,
        Limits.Limited(limits.rows, limits.bytes, limits.files, minRows = super.limits(from).minRows)
      )
  }

  final private class SilentSwitch(inner: SplitEnumerator[HybridPosition]) extends Passing[HybridPosition](inner) {
    override def advance(from: HybridPosition, limits: Limits): HybridPosition = {
      val until = super.advance(from, limits)
      if (super.splits(from, until).isEmpty) from else until
    }
  }

  final private class Reported(inner: SplitEnumerator[FilesPosition]) extends Passing[FilesPosition](inner) {
    override def remaining(at: FilesPosition, covered: Coverage): Seq[SplitRange] = Nil
  }

  final private class Unchecked(inner: SplitEnumerator[HybridPosition]) extends Passing[HybridPosition](inner) {
    override def replay(from: HybridPosition, until: HybridPosition): Unit = ()
  }

  final private class MisroutedCommit(inner: SplitEnumerator[HybridPosition]) extends Passing[HybridPosition](inner) {
    private var active: Option[HybridPosition] = None

    override def advance(from: HybridPosition, limits: Limits): HybridPosition = {
      val until = super.advance(from, limits)
      active = Some(until)
      until
    }

    override def committed(until: HybridPosition): Unit =
      super.committed(active.getOrElse(until))
  }

  final private class Nameless(inner: ClusterClient) extends PassingMetadata(inner) {
    override def describe(): LogDescription = {
      val seen = super.describe()
      seen.copy(topicIds = seen.topicIds.map { case (topic, _) => topic -> "the same" })
    }
  }
}

/** Hides the offsets of a leg if another leg has stored its offsets later in this run. */
final private class LastTally(log: SideLog, of: String, counted: mutable.Buffer[String]) extends SideLog {
  private def isEarlier(key: String)                 = key.startsWith("tally-") && counted.lastOption.exists(_ != of)
  override def get(key: String): Option[Seq[String]] =
    log.get(key).map(lines => if (isEarlier(key)) lines.take(1) else lines)
  override def getOrCreate(key: String)(value: => Seq[String]): Seq[String] = {
    val lines = log.getOrCreate(key)(value)
    if (key.startsWith("tally-")) counted += of
    lines
  }
  override def keys(prefix: String): Seq[String] = log.keys(prefix)
  override def remove(key: String): Unit         = log.remove(key)
  override def scope(name: String): SideLog      = new LastTally(log.scope(name), name, counted)
  override def folder(name: String): Path        = log.folder(name)
}

/** Hides the holes of a history in a switch that an earlier run has stored. */
final private class Unfilled(log: SideLog) extends SideLog {
  override def get(key: String): Option[Seq[String]] =
    log.get(key).map(lines => if (key.startsWith("hand-over-")) Unfilled.without(lines) else lines)
  override def getOrCreate(key: String)(value: => Seq[String]): Seq[String] = log.getOrCreate(key)(value)
  override def keys(prefix: String): Seq[String]                            = log.keys(prefix)
  override def remove(key: String): Unit                                    = log.remove(key)
  override def scope(name: String): SideLog                                 = new Unfilled(log.scope(name))
  override def folder(name: String): Path                                   = log.folder(name)
}

private object Unfilled {
  private val Filled = ""","filled":(\d+)""".r

  def without(lines: Seq[String]): Seq[String] = Filled.findFirstMatchIn(lines.head).fold(lines) { found =>
    Filled.replaceFirstIn(lines.head, "") +: lines.tail.dropRight(found.group(1).toInt)
  }
}

/** Forwards every request. */
class PassingMetadata(inner: ClusterClient) extends ClusterClient {
  override def describe(): LogDescription                                              = inner.describe()
  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long]        = inner.earliest(partitions)
  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long]            = inner.ends(partitions)
  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = inner.atTime(millis)
  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long]       = inner.committed(partitions)
  override def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] =
    inner.firstRecords(ranges)
  override def times(at: Map[LogPartition, Long]): Map[LogPartition, Long] = inner.times(at)
  override def close(): Unit                                               = inner.close()
}
