// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import java.time.Duration

import scala.collection.immutable.SortedMap

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.common.TopicPartition
import org.apache.spark.sql.types.StructType

import splice.hybrid.internal.chain.LegEnumerators
import splice.kafka.internal.cluster.ClockedDiscovery
import splice.kafka.internal.consumer.SlotConsumer
import splice.kafka.internal.options._
import splice.kafka.internal.pool.{ReaderKey, ReaderPool, ReaderSettings}
import splice.kafka.internal.reader.{KafkaSplitReader, SlotReader}
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.kafka.internal.topicids.TopicIds
import splice.kafka.internal.value.KafkaSchema
import splice.kafka.{KafkaSource, Place}
import splice.simulation.planted.Faults
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, Limits, LogPartition, Position, Source, SplitEnumerator, TaskRanges}
import splice.testkit.internal.simulation.SimulatedCluster
import splice.testkit.simulation.{Life, TaskRows}

/** Kafka leg with the real source, enumerator, reader and pool over a simulated cluster. */
final class KafkaLeg(
    name: String,
    val cluster: SimulatedCluster,
    subscription: Subscription,
    start: Place,
    bounded: Boolean,
    limits: Limits.Limited,
    failOnDataLoss: Boolean,
    life: Life,
    faults: Faults,
    committed: () => Option[Position]
) extends SimulatedLeg {

  private val lag    = 2
  private val client =
    ClientProperties(SortedMap(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG -> cluster.id), groupIdPrefix = None)
  private val settings = KafkaSettings(
    subscription,
    client,
    Some(start),
    if (bounded) Some(Place.Latest) else None,
    limits,
    failOnDataLoss,
    includeHeaders = false,
    pollTimeout = Some(Duration.ofNanos(1)),
    retries = lag + 1,
    retryInterval = Duration.ZERO,
    discoveryInterval = Duration.ofSeconds(10),
    readerIdleTimeout = Duration.ofMinutes(1),
    policies = LogPolicies.of(failOnDataLoss)
  )
  private val reading = ReaderSettings(
    client,
    failOnDataLoss,
    Duration.ofNanos(1),
    settings.readerIdleTimeout,
    failOutOfRange = failOnDataLoss
  )
  private val idColumn  = new StructType().add(KafkaSchema(includeHeaders = false)(KafkaSchema.Value))
  private var pool      = newPool
  private val shared    = scala.collection.mutable.Map.empty[ReaderKey, SlotConsumer]
  private val responses = new ClusterMetadata(cluster, subscription, life, lag)

  private val ends = scala.collection.mutable.Set.empty[String]

  /** True if the source has received the commit of a position. */
  def reported(position: String): Boolean = ends(position)

  /** Begins a run, and discards the responses of the previous run. */
  def startRun(): Unit = responses.startRun()

  /** Lowest end of a partition in the responses of this run. */
  def lowestEnd(p: LogPartition): Long = responses.lowestEnd(p)

  /** Number of stale responses to this leg. */
  def behind: Int = responses.behind

  override def close(): Unit = ()

  override def killed(): Unit = pool = newPool

  override def source: Source[_ <: Position] = new KafkaLegSource(new KafkaSource(settings))

  override def rows(run: String, task: TaskRanges): TaskRows = {
    val (filling, others) = task.ranges.map(_.asInstanceOf[KafkaSplitRange]).partition(_.holes.nonEmpty)
    val parts             = Seq(filling -> client.committedOnly, others -> client).filter(_._1.nonEmpty)
    new RowsInTurn(parts.map { case (ranges, own) =>
      RowsInTurn.Part(ranges, () => rows(ReaderKey(s"$run-${LegEnumerators.scope(name)}", own, task.slot), ranges))
    })
  }

  private def rows(key: ReaderKey, ranges: IndexedSeq[KafkaSplitRange]): TaskRows = {
    val pooled = if (faults.sharesConsumers) shared.get(key) else pool.borrow(key)(_.fits(ranges))
    val slot   = pooled.getOrElse(new SlotConsumer(new SimulatedConsumer(cluster, life, faults.seeks), confirmed))
    val home   = pool
    shared += key -> slot
    val own = new SlotReader(ranges, slot, reading.copy(reportKey = key.run), pooled.isDefined)(
      home.giveBack(key, slot, reading.idleTimeout)
    )
    new ReaderRows(new KafkaSplitReader(idColumn, own), row => new String(row.getBinary(0)).toLong)
  }

  private def confirmed = new TopicIds(
    () => 0L,
    new TopicIds.Request {
      override def apply(planned: Map[String, String]): Map[String, String] = planned

      override def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] =
        expected.map { case (p, _) =>
          p -> cluster.topics.get(p.topic).flatMap(_.partitions.lift(p.partition)).fold(0L)(_.end)
        }
    }
  )

  private def newPool = new ReaderPool[ReaderKey, SlotConsumer](() => 0L)

  final private class KafkaLegSource(real: KafkaSource) extends Source[KafkaPosition] {
    override def kind: String                          = real.kind
    override def boundedness: Boundedness              = real.boundedness
    override def schema: StructType                    = real.schema
    override def identity: SortedMap[String, String]   = real.identity
    override def readsLog: Boolean                     = real.readsLog
    override def position(json: String): KafkaPosition = real.position(json)

    override def enumerator(context: EnumeratorContext): SplitEnumerator[KafkaPosition] = {
      val metadata  = faults.metadata(responses, () => life.move())
      val discovery = new ClockedDiscovery(metadata, settings.discoveryInterval, context.steady)
      new CommitWatch(
        faults.kafka(real.enumerator(context, metadata, discovery), metadata, cluster),
        cluster.id,
        committed,
        position => { val _ = ends.add(position) }
      )
    }
  }
}
