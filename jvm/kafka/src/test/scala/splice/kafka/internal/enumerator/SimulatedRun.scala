// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import scala.collection.immutable.SortedMap

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.cluster.{ClockedDiscovery, Recheck}
import splice.kafka.internal.options.{KafkaSettings, Subscription}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.options.SourceOptions
import splice.source.runtime.{ReportListeners, SideLog}
import splice.source.{EnumeratorContext, LogPartition, Position, ReadMode, SplitRange, StartPosition, StoredStart}

/** Simulated cluster with its enumerators, and a side log that outlives crashes. */
final class SimulatedRun(options: (String, String)*) {

  private val all = Map("kafka.bootstrap.servers" -> "simulated:9092", "subscribe" -> "t") ++ options

  val settings: KafkaSettings =
    KafkaSettings(SourceOptions(if (options.exists(o => o._1 != "subscribe" && o._1.matches("subscribePattern|assign")))
      all - "subscribe"
    else all))

  private val names = settings.subscription match {
    case Subscription.Topics(some) => some.toSet
    case _                         => Set.empty[String]
  }

  val log   = new SimulatedLog(settings.subscription, names)
  val side  = new MemorySideLog
  val clock = new SimulatedRun.Hands

  var pauses                   = 0
  var paused: Duration => Unit = _ => pauses += 1

  private var stored = Option.empty[StoredStart]

  /** Starts the source, and stores the start for later runs. */
  def begin(at: StartPosition, own: KafkaEnumerator = start()): KafkaPosition = {
    val position = own.start(at)
    stored = Some(SimulatedRun.stored(position, at))
    position
  }

  /** Creates the enumerator of another start of the query. */
  def start(
      mode: ReadMode = ReadMode.Stream,
      sideLog: SideLog = side,
      own: KafkaSettings = settings,
      listeners: ReportListeners = new ReportListeners
  ): KafkaEnumerator = {
    val context =
      EnumeratorContext(sideLog, mode, clock, cores = 2, run = "simulated", start = stored, listeners = listeners)
    val recheck = new Recheck(settings.retries, settings.retryInterval, time => paused(time))
    KafkaEnumerator(own, context, log, new ClockedDiscovery(log, settings.discoveryInterval, clock), recheck)
  }

  /** Returns the ranges of a batch that another start of the query replays. */
  def replay(from: KafkaPosition, until: KafkaPosition): Seq[SplitRange] = {
    val again = start()
    again.replay(from, until)
    again.splits(from, until)
  }

  /** Advances the clock past the discovery interval. */
  def later(): Unit = clock.pass(settings.discoveryInterval.plusMillis(1))
}

object SimulatedRun {

  /** Clock that advances only by calls. */
  final class Hands extends Clock {
    private var now = Instant.ofEpochMilli(1700000000000L)

    /** Hook before each read of the clock. */
    @volatile var read: () => Unit = () => ()

    def pass(time: Duration): Unit  = now = now.plus(time)
    override def instant(): Instant = {
      read()
      now
    }
    override def getZone: ZoneId               = ZoneOffset.UTC
    override def withZone(zone: ZoneId): Clock = this
  }

  /** Creates a stored start, as a hybrid source does. */
  def stored(position: Position, at: StartPosition): StoredStart = StoredStart(
    position.json,
    at match {
      case StartPosition.Offsets(starts) => starts.filter(_._2.fill.nonEmpty)
      case _                             => SortedMap.empty
    }
  )

  def at(offsets: (Int, Long)*): KafkaPosition = KafkaPosition.of(offsets.map { case (p, o) => t(p) -> o })

  def t(partition: Int): LogPartition = LogPartition("t", partition)

  def range(partition: Int, from: Long, until: Long): KafkaSplitRange = KafkaSplitRange(t(partition), from, until)(None)
}
