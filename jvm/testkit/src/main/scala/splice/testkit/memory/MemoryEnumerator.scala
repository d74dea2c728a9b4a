// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.memory

import scala.collection.immutable.SortedMap

import splice.source._

/** Finds a log's partitions and says how far to read. */
final private[memory] class MemoryEnumerator(
    name: String,
    bounded: Boolean,
    starting: String,
    own: Limits.Limited,
    context: EnumeratorContext
) extends SplitEnumerator {

  private type Offsets = SortedMap[Int, Long]

  private def log                     = MemoryLog(name)
  private var frozen: Option[Offsets] = None

  override def start(at: StartPosition): Position = {
    log.ask("start")
    val ends = now(log.end)
    if (bounded) write("ends")(ends)
    MemoryPosition(
      name,
      at match {
        case StartPosition.Configured if starting == "latest" => ends
        case StartPosition.Configured                         => now(log.earliest)
        case StartPosition.Timestamp(millis, _)               => now(log.offsetAt(_, millis))
        case wanted: StartPosition.Offsets                    => offsets(wanted)
      }
    )
  }

  override def limits(at: Position): Limits.Limited = own

  override def advance(from: Position, limits: Limits): Position = {
    val at    = next(from)
    val ends  = last
    val begun = SortedMap.from(ends.keys.map(p => p -> at.getOrElse(p, begin(p))))
    val rows  = ends.map { case (p, end) => math.max(0L, end - begun(p)) }.sum
    if (limits.minRows.exists(rows < _)) from
    else {
      val share = limits.rows.map(max => math.max(1L, max / math.max(1, ends.size)))
      MemoryPosition(
        name,
        at ++ ends.map { case (p, end) => p -> math.max(begun(p), share.fold(end)(n => math.min(end, begun(p) + n))) }
      )
    }
  }

  override def splits(from: Position, until: Position): Seq[SplitRange] = {
    val at = next(from)
    next(until).toSeq.map { case (p, end) => MemoryRange(name, p, at.getOrElse(p, begin(p)), end, slotted = !bounded) }
      .filter(r => r.until > r.from)
  }

  override def end(at: Position): Option[EndState] =
    if (bounded && last.forall { case (p, end) => next(at).get(p).exists(_ >= end) })
      Some(new MemoryEndState(at, name, next(at)))
    else None

  override def freeze(): Unit = {
    log.ask("freeze")
    frozen = Some(now(log.end))
  }

  override def committed(until: Position): Unit = log.ask(s"committed ${until.json}")

  override def report(at: Position): SortedMap[String, String] = SortedMap(
    ProgressMetric.Position -> next(at).map { case (p, offset) => s"$p:$offset" }.mkString(" "),
    ProgressMetric.Splits   -> next(at).size.toString
  )

  override def close(): Unit = MemoryLog(name).ask("close")

  private def offsets(wanted: StartPosition.Offsets): Offsets = now { p =>
    val partition = LogPartition(name, p)
    val offset    = wanted.offsets.getOrElse(partition, 0L)
    val earliest  = log.earliest(p)
    val archived  = wanted.archived.getOrElse(partition, earliest)
    if (wanted.onGap == OnGap.Fail) {
      if (offset < earliest) throw MemoryErrors.gap(partition.toString, offset, earliest)
      if (archived > earliest) throw MemoryErrors.gap(partition.toString, earliest, archived)
    }
    math.max(offset, earliest)
  }

  private def last: Offsets = {
    log.ask("ends")
    if (bounded) read("ends").getOrElse(throw CheckpointErrors.missingEntry("ends")) else frozen.getOrElse(now(log.end))
  }

  private def begin(partition: Int): Long =
    write(s"begin-$partition")(SortedMap(partition -> log.earliest(partition)))(partition)

  private def now(offset: Int => Long): Offsets = SortedMap.from((0 until log.size).map(p => p -> offset(p)))

  private def next(at: Position): Offsets = MemoryPosition.parse(name, at.json).next

  private def write(key: String)(offsets: => Offsets): Offsets =
    MemoryPosition.parse(name, context.sideLog.getOrCreate(key)(Seq(MemoryPosition(name, offsets).json)).mkString).next

  private def read(key: String): Option[Offsets] =
    context.sideLog.get(key).map(lines => MemoryPosition.parse(name, lines.mkString).next)
}

/** A piece of one partition. */
final case class MemoryRange(log: String, partition: Int, from: Long, until: Long, override val slotted: Boolean)
    extends SplitRange {
  override def splitId: String = s"$log-$partition"
  override def weight: Long    = until - from

  override def cuttable: Boolean = slotted

  override def pieces(weights: Seq[Long]): Seq[SplitRange] =
    weights.scanLeft(from)(_ + _).zip(weights).map { case (begin, rows) => copy(from = begin, until = begin + rows) }
}
