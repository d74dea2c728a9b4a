// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.{LongType, StructType}

import splice.source._
import splice.source.internal.entries.Json
import splice.source.runtime.Boundedness
import splice.testkit.internal.simulation.{SimulatedCluster, SimulatedPartition}

/** Minimal correct source over a simulated topic. Tests inject faults. */
class LogSource(cluster: SimulatedCluster, topic: String, ownLimits: Limits.Limited) extends Source[LogPosition] {

  override def kind: String                        = "log"
  override def boundedness: Boundedness            = Boundedness.ContinuousUnbounded
  override def schema: StructType                  = new StructType().add("id", LongType)
  override def identity: SortedMap[String, String] = SortedMap("topic" -> topic)
  override def position(json: String): LogPosition =
    LogPosition(SortedMap.from(Json.fields(Json.read(json).get).map { case (p, at) => p.toInt -> at.asLong }))
  override def enumerator(context: EnumeratorContext): SplitEnumerator[LogPosition] = new LogEnumerator(context)

  class LogEnumerator(context: EnumeratorContext) extends SplitEnumerator[LogPosition] {

    private var frozen: Option[SortedMap[Int, Long]] = None

    protected def partitions: Vector[SimulatedPartition] = cluster.topic(topic).partitions

    /** Start of a partition that was discovered later. */
    protected def begin(partition: Int): Long =
      context.sideLog.getOrCreate(s"start-$partition")(Seq(partitions(partition).earliest.toString)).mkString.toLong

    private def ends: SortedMap[Int, Long] =
      SortedMap.from(partitions.zipWithIndex.map { case (log, p) => p -> log.stableEnd })

    override def start(at: StartPosition): LogPosition =
      LogPosition(SortedMap.from(partitions.zipWithIndex.map { case (log, p) => p -> log.earliest }))

    override def limits(at: LogPosition): Limits.Limited = ownLimits

    override def advance(from: LogPosition, limits: Limits): LogPosition = {
      val at    = from.at
      val known = frozen.getOrElse(ends).map { case (p, end) => (p, at.getOrElse(p, begin(p)), end) }.toSeq
      val rows  = known.map { case (_, start, end) => math.max(0L, end - start) }.sum
      if (limits.minRows.exists(rows < _)) from
      else {
        val share = limits.rows.fold(Long.MaxValue)(n => math.max(1L, n / math.max(1, known.size)))
        LogPosition(at ++ known.map { case (p, start, end) =>
          p -> math.max(start, math.min(end, if (share == Long.MaxValue) end else start + share))
        })
      }
    }

    override def splits(from: LogPosition, until: LogPosition): Seq[SplitRange] =
      until.at.toSeq.map { case (p, end) => SimulatedRange(p, from.at.getOrElse(p, begin(p)), end) }
        .filter(r => r.until > r.from)

    override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
      throw new UnsupportedOperationException

    override def freeze(): Unit = frozen = Some(ends)
  }
}

final case class LogPosition(at: SortedMap[Int, Long]) extends Position {
  override def json: String = Json.write(Json.obj(at.toSeq.map { case (p, n) => p.toString -> Json.number(n) }: _*))
  override def precedes(later: Position): Boolean = {
    val other = later.asInstanceOf[LogPosition].at
    at.forall { case (p, n) => other.get(p).exists(n <= _) }
  }
}

final case class SimulatedRange(partition: Int, from: Long, until: Long) extends SplitRange {
  override def splitId: String  = s"p-$partition"
  override def weight: Long     = until - from
  override def slotted: Boolean = true
}

/** Error of a reader about missing rows. */
final class RowsGone(text: String) extends RuntimeException(text)

/** Reads ranges directly from the topic. */
final class LogRows(cluster: SimulatedCluster, topic: String, task: TaskRanges) extends TaskRows {

  private val ids = task.ranges.iterator.map(_.asInstanceOf[SimulatedRange]).flatMap { range =>
    val log = cluster.topic(topic).partitions(range.partition)
    (range.from until range.until).iterator.flatMap { offset =>
      val record = log.at(offset).getOrElse(throw new RowsGone(s"${range.splitId} no longer holds $offset"))
      record.id.filterNot(_ => cluster.isAborted(record.transaction))
    }
  }

  override def next(): Option[Long] = ids.nextOption()
  override def close(): Unit        = ()
}
