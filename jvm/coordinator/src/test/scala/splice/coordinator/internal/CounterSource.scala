// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.{LongType, StructType}

import splice.source._
import splice.source.internal.entries.Json
import splice.source.runtime.Boundedness

/** A source of numbers for the coordinator's tests. Partition `p` has as many numbers as the test sets. */
class CounterSource(ends: () => SortedMap[Int, Long], own: Limits.Limited, slotted: Boolean = true)
    extends Source[CounterPosition] {

  var started = 0

  /** The number of closed enumerators. */
  var closed = 0

  /** The stored starts that enumerators received. */
  var starts: Vector[Option[StoredStart]] = Vector.empty

  /** The batches that were prepared for a replay. */
  var replayed: Vector[(CounterPosition, CounterPosition)] = Vector.empty

  /** The positions before which no entry is needed. */
  var retained: Vector[CounterPosition] = Vector.empty

  override def kind: String                        = "counter"
  override def boundedness: Boundedness            = Boundedness.ContinuousUnbounded
  override def schema: StructType                  = new StructType().add("n", LongType)
  override def identity: SortedMap[String, String] = SortedMap("numbers" -> "all")

  override def position(json: String): CounterPosition =
    CounterPosition(
      SortedMap.from(Json.fields(Json.read(json).get).map { case (p, at) => p.toInt -> at.asLong })
    )

  override def enumerator(context: EnumeratorContext): SplitEnumerator[CounterPosition] =
    new SplitEnumerator[CounterPosition] {
      starts :+= context.start
      override def start(at: StartPosition): CounterPosition = {
        started += 1
        CounterPosition(ends().map { case (p, _) => p -> 0L })
      }
      override def limits(at: CounterPosition): Limits.Limited                     = own
      override def advance(from: CounterPosition, limits: Limits): CounterPosition = {
        val rows = ends().map { case (p, end) => end - from.at.getOrElse(p, 0L) }.sum
        if (limits.minRows.exists(rows < _)) from else CounterPosition(ends())
      }
      override def splits(from: CounterPosition, until: CounterPosition): Seq[SplitRange] =
        until.at.toSeq.collect {
          case (p, end) if end > from.at.getOrElse(p, 0L) => CounterRange(p, from.at.getOrElse(p, 0L), end, slotted)
        }
      override def replay(from: CounterPosition, until: CounterPosition): Unit = replayed :+= (from -> until)
      override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
        throw new UnsupportedOperationException
      override def retain(oldest: CounterPosition): Unit            = retained :+= oldest
      override def close(): Unit                                    = closed += 1
      override def isMember(at: CounterPosition): String => Boolean = ends().keySet.map(p => s"n-$p")
    }
}

final case class CounterPosition(at: SortedMap[Int, Long]) extends Position {
  override def json: String = Json.write(Json.obj(at.toSeq.map { case (p, n) => p.toString -> Json.number(n) }: _*))
  override def precedes(later: Position): Boolean = {
    val other = later.asInstanceOf[CounterPosition].at
    at.forall { case (p, n) => other.get(p).forall(n <= _) }
  }
}

final case class CounterRange(partition: Int, from: Long, until: Long, override val slotted: Boolean)
    extends SplitRange {
  override def splitId: String = s"n-$partition"
  override def weight: Long    = until - from

  override def cuttable: Boolean = slotted

  override def pieces(weights: Seq[Long]): Seq[SplitRange] =
    weights.scanLeft(from)(_ + _).zip(weights).map { case (begin, rows) => copy(from = begin, until = begin + rows) }
}
