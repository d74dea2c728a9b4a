// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.spark.sql.types.StructType

import splice.kafka.dynamic._
import splice.kafka.dynamic.enumerator.ClusterEnumerator
import splice.kafka.enumerator.{RecordSizes, TimedOffset}
import splice.kafka.options.StartingOffsets
import splice.kafka.split.{KafkaPosition, KafkaSplitRange}
import splice.source._

/** A stream on a cluster in memory, of so many partitions that their offsets are too long for an offset of Spark.
  *
  * Each partition ends at the same offset, which a test moves.
  */
final class ManyPartitions(options: (String, String)*) extends Source {

  private val partitions = (0 until 15000).map(LogPartition("orders", _))

  private val settings =
    DynamicSettings(SourceOptions(Map("metadata.file" -> "unused", "streams" -> "orders") ++ options))

  private val source = new DynamicKafkaSource(settings)

  /** Where each partition ends. */
  var last = 0L

  val size: Int = partitions.size

  private def at(offset: Long): KafkaPosition = KafkaPosition.of(partitions.map(_ -> offset))

  private object Service extends KafkaMetadataService {
    override def allStreams(): StreamMetadata = StreamMetadata(
      Some(1),
      SortedMap("east"   -> KafkaCluster("east", SortedMap("bootstrap.servers" -> "east:9092"))),
      SortedMap("orders" -> KafkaStream("orders", SortedMap("east" -> SortedSet("orders"))))
    )
    override def isClusterActive(cluster: String): Boolean = true
  }

  private object Cluster extends ClusterEnumerator {
    override def start(from: StartPosition, of: Map[String, StartingOffsets]): KafkaPosition = at(0)
    override def limits(from: Position): Limits.Limited                                      = Limits.NotSet
    override def advance(from: Position, limits: Limits): Position                       = at(last)
    override def splits(from: Position, until: Position): Seq[SplitRange]                    = {
      val begin = KafkaPosition.from(from)
      KafkaPosition.from(until).offsets.toSeq.collect {
        case (p, stop) if begin.get(p).exists(_ < stop) => KafkaSplitRange(p, begin.offsets(p), stop)(None)
      }
    }
    override def end(from: Position): Option[EndState] =
      if (KafkaPosition.from(from) == at(last)) Some(new Ended(from)) else None
    override def freeze(): Unit                                                          = ()
    override def committed(until: Position): Unit                                        = ()
    override def report(from: Position): SortedMap[String, String]                       = SortedMap.empty
    override def close(): Unit                                                           = ()
    override def expect(starts: KafkaPosition): Unit                                     = ()
    override def refresh(): Unit                                                         = ()
    override def clusterId: Option[String]                                               = Some("id-of-east")
    override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = Map.empty
  }

  final private class Ended(override val position: Position) extends EndState {
    override def eventTimes(column: String): Option[TimeRange]       = None
    override def modificationTimes: Option[TimeRange]                = None
    override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = Nil
  }

  override def enumerator(context: EnumeratorContext): SplitEnumerator =
    source.enumerator(context, Service, new RecordSizes)((_, _, _) => Cluster)

  override def kind: String                                      = source.kind
  override def boundedness: Boundedness                          = source.boundedness
  override def schema: StructType                                = source.schema
  override def fingerprint: Seq[(String, String)]                = source.fingerprint
  override def position(json: String): Position                  = source.position(json)
  override def readers(context: ReadContext): SplitReaderFactory = source.readers(context)
}
