// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.{LongType, StructType}

import splice.source._

/** A source of numbers for the coordinator's own tests: partition `p` holds as many as the test says. */
final class CounterSource(
    ends: () => SortedMap[Int, Long],
    own: ReadLimits,
    slotted: Boolean = true,
    override val sharedStart: Option[SharedStart] = None
) extends Source {

  var started = 0

  override def kind: String                       = "counter"
  override def boundedness: Boundedness           = Boundedness.ContinuousUnbounded
  override def schema: StructType                 = new StructType().add("n", LongType)
  override def fingerprint: Seq[(String, String)] = Seq("numbers" -> "all")

  override def progress(json: String): CounterProgress =
    CounterProgress(
      SortedMap.from(Json.fields(Json.read(json).get).map { case (p, at) => p.toInt -> at.asLong })
    )

  override def readers(context: ReadContext): SplitReaderFactory = throw new UnsupportedOperationException

  override def enumerator(context: EnumeratorContext): SplitEnumerator = new SplitEnumerator {
    override def start(at: StartPosition): Progress = {
      started += 1
      CounterProgress(ends().map { case (p, _) => p -> 0L })
    }
    override def limits(at: Progress): ReadLimits                      = own
    override def advance(from: Progress, limits: ReadLimits): Progress = {
      val before = from.asInstanceOf[CounterProgress].at
      val rows   = ends().map { case (p, end) => end - before.getOrElse(p, 0L) }.sum
      if (limits.minRows.exists(rows < _)) from else CounterProgress(ends())
    }
    override def splits(from: Progress, until: Progress): Seq[SplitRange] = {
      val before = from.asInstanceOf[CounterProgress].at
      until.asInstanceOf[CounterProgress].at.toSeq.collect {
        case (p, end) if end > before.getOrElse(p, 0L) => CounterRange(p, before.getOrElse(p, 0L), end, slotted)
      }
    }
    override def isMember(at: Progress): String => Boolean       = ends().keySet.map(p => s"n-$p")
    override def end(at: Progress): Option[EndState]             = None
    override def freeze(): Unit                                  = ()
    override def committed(until: Progress): Unit                = ()
    override def report(at: Progress): SortedMap[String, String] = SortedMap.empty
    override def close(): Unit                                   = ()
  }
}

final case class CounterProgress(at: SortedMap[Int, Long]) extends Progress {
  override def json: String = Json.write(Json.obj(at.toSeq.map { case (p, n) => p.toString -> Json.number(n) }: _*))
  override def precedes(later: Progress): Boolean = {
    val other = later.asInstanceOf[CounterProgress].at
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
