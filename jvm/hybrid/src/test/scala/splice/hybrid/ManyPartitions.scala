// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.spark.sql.types.StructType

import splice.kafka.Place
import splice.kafka.dynamic.internal.reader.ClusterReads
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.{DynamicKafkaSource, KafkaCluster, KafkaMetadataService, KafkaStream, StreamMetadata}
import splice.kafka.internal.admission.{RecordSizes, RecordTimes}
import splice.kafka.internal.cluster.TimedOffset
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaPlan}
import splice.kafka.internal.split.KafkaPosition
import splice.source._
import splice.source.log.LogRange
import splice.source.options.SourceOptions
import splice.source.runtime.Boundedness

/** Stream on a cluster in memory with many partitions, whose offsets are too long for an offset of Spark.
  *
  * All partitions have the same end offset, which a test changes.
  */
final class ManyPartitions(options: (String, String)*) extends Source[DynamicOffset] {

  private val partitions = (0 until 15000).map(LogPartition("orders", _))

  private val settings =
    DynamicSettings(SourceOptions(Map("metadata.file" -> "unused", "streams" -> "orders") ++ options))

  private val source = new DynamicKafkaSource(settings)

  /** End offset of each partition. */
  var last = 0L

  val size: Int = partitions.size

  private def at(offset: Long): KafkaPosition = KafkaPosition.of(partitions.map(_ -> offset))

  private object Service extends KafkaMetadataService {
    override def allStreams(): StreamMetadata = StreamMetadata(
      Some(1),
      SortedMap("east"   -> KafkaCluster("east", SortedMap("bootstrap.servers" -> "east:9092"))),
      SortedMap("orders" -> KafkaStream("orders", SortedMap("east" -> SortedSet("orders"))))
    )
  }

  private object Cluster extends ClusterEnumerator {
    override def start(from: StartPosition, of: Map[String, Place]): KafkaPosition         = at(0)
    override def advance(from: KafkaPosition, limits: Limits): KafkaPosition               = at(last)
    override def plan: KafkaPlan                                                           = KafkaPlan()
    override def settle(from: KafkaPosition): KafkaPosition                                = from
    override def open(settled: KafkaPosition): Seq[SplitRange]                             = Nil
    override def reached(settled: KafkaPosition, unread: Seq[SplitRange]): KafkaPosition   = settled
    override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
      throw new UnsupportedOperationException
    override def evidence(from: KafkaPosition): Option[Evidence] =
      if (from == at(last)) Some(Evidence(from, eventTimes = () => None, offsets = () => Nil)) else None
    override def expect(starts: KafkaPosition): Unit                                                  = ()
    override def limit(ends: KafkaPosition, unread: Set[String]): Unit                                = ()
    override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] =
      throw new UnsupportedOperationException
    override def refresh(): Unit                                                                 = ()
    override def written(partitions: Set[LogPartition]): Map[LogPartition, Long]                 = Map.empty
    override def newStarts(of: Set[LogPartition], start: Option[Place]): Map[LogPartition, Long] = Map.empty
    override def clusterId: Option[String]                                                       = Some("id-of-east")
    override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset]         = Map.empty
    override def times: RecordTimes = throw new UnsupportedOperationException
  }

  override def enumerator(context: EnumeratorContext): SplitEnumerator[DynamicOffset] =
    source.enumerator(context, Service, new RecordSizes, new ClusterReads(context.run))((_, _, _, _) => Cluster)

  override def kind: String                          = source.kind
  override def boundedness: Boundedness              = source.boundedness
  override def schema: StructType                    = source.schema
  override def identity: SortedMap[String, String]   = source.identity
  override def position(json: String): DynamicOffset = source.position(json)
}
