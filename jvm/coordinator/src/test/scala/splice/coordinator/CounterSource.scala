// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.{LongType, StructType}

import splice.source._

/** A source of numbers for the coordinator's own tests: partition `p` holds as many as the test says. */
final class CounterSource(
    ends: () => SortedMap[Int, Long],
    own: Limits.Limited,
    slotted: Boolean = true,
    override val sharedStart: Option[SharedStart] = None
) extends Source {

  var started = 0

  override def kind: String                       = "counter"
  override def boundedness: Boundedness           = Boundedness.ContinuousUnbounded
  override def schema: StructType                 = new StructType().add("n", LongType)
  override def fingerprint: Seq[(String, String)] = Seq("numbers" -> "all")

  override def position(json: String): CounterPosition =
    CounterPosition(
      SortedMap.from(Json.fields(Json.read(json).get).map { case (p, at) => p.toInt -> at.asLong })
    )

  override def readers(context: ReadContext): SplitReaderFactory = throw new UnsupportedOperationException

  override def enumerator(context: EnumeratorContext): SplitEnumerator = new SplitEnumerator {
    override def start(at: StartPosition): Position = {
      started += 1
      CounterPosition(ends().map { case (p, _) => p -> 0L })
    }
    override def limits(at: Position): Limits.Limited              = own
    override def advance(from: Position, limits: Limits): Position = {
      val before = from.asInstanceOf[CounterPosition].at
      val rows   = ends().map { case (p, end) => end - before.getOrElse(p, 0L) }.sum
      if (limits.minRows.exists(rows < _)) from else CounterPosition(ends())
    }
    override def splits(from: Position, until: Position): Seq[SplitRange] = {
      val before = from.asInstanceOf[CounterPosition].at
      until.asInstanceOf[CounterPosition].at.toSeq.collect {
        case (p, end) if end > before.getOrElse(p, 0L) => CounterRange(p, before.getOrElse(p, 0L), end, slotted)
      }
    }
    override def isMember(at: Position): String => Boolean       = ends().keySet.map(p => s"n-$p")
    override def end(at: Position): Option[EndState]             = None
    override def freeze(): Unit                                  = ()
    override def committed(until: Position): Unit                = ()
    override def report(at: Position): SortedMap[String, String] = SortedMap.empty
    override def close(): Unit                                   = ()
  }
}

final case class CounterPosition(at: SortedMap[Int, Long]) extends Position {
  override def json: String = Json.write(Json.obj(at.toSeq.map { case (p, n) => p.toString -> Json.number(n) }: _*))
  override def precedes(later: Position): Boolean = {
    val other = later.asInstanceOf[CounterPosition].at
    at.forall { case (p, n) => other.get(p).forall(n <= _) }
  }
}

final case class CounterRange(partition: Int, from: Long, until: Long, slotted: Boolean) extends SplitRange {
  override def splitId: String = s"n-$partition"
  override def weight: Long    = until - from

  override def cuttable: Boolean = slotted

  override def pieces(weights: Seq[Long]): Seq[SplitRange] =
    weights.scanLeft(from)(_ + _).zip(weights).map { case (begin, rows) => copy(from = begin, until = begin + rows) }
}
