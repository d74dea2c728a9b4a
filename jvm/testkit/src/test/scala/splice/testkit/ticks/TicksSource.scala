// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.ticks

import java.time.{Clock, Duration}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType

import splice.source._
import splice.source.options.{OptionSet, OptionType, SourceOption, SourceOptions}

/** Minimal connector with one row per clock tick. */
final class TicksProvider extends SourceProvider {
  private val every = SourceOption("everyMs", OptionType.PositiveLong, "milliseconds between ticks")
  private val first = SourceOption("firstTick", OptionType.PositiveLong, "the first tick; by default the next one")

  override def kind: String                                = "ticks"
  override def options: OptionSet                          = OptionSet("Ticks", Seq(every, first))
  override def create(options: SourceOptions): TicksSource = new TicksSource(options(every), options.find(first))
}

final case class TicksPosition(n: Long) extends NumberPosition

final case class TicksRange(from: Long, until: Long) extends SplitRange {
  override def splitId: String = "ticks"
  override def weight: Long    = until - from
}

final class TicksSource(every: Long, first: Option[Long]) extends Source[TicksPosition] {
  override def kind: String                                            = "ticks"
  override def schema: StructType                                      = StructType.fromDDL("n BIGINT")
  override def position(json: String): TicksPosition                   = TicksPosition(NumberPosition.read(json))
  override def enumerator(context: EnumeratorContext): TicksEnumerator =
    new TicksEnumerator(every, first, context.clock)
}

final class TicksEnumerator(every: Long, first: Option[Long], clock: Clock) extends SplitEnumerator[TicksPosition] {
  private var frozen = Option.empty[Long]
  private def last   = frozen.getOrElse(clock.millis() / every)

  override def start(at: StartPosition): TicksPosition = at match {
    case StartPosition.Time(millis, _) => TicksPosition((millis + every - 1) / every)
    case _                             => TicksPosition(first.getOrElse(last))
  }
  override def advance(from: TicksPosition, limits: Limits): TicksPosition = TicksPosition(limits.cap(from.n, last))
  override def splits(from: TicksPosition, until: TicksPosition): Seq[SplitRange] =
    Seq(TicksRange(from.n, until.n)).filter(_.weight > 0)
  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = TicksReaders
  override def freeze(): Unit                                                            = frozen = Some(last)
}

object TicksReaders extends SplitReaderFactory {
  override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
    private val ticks = task.ranges.iterator.collect { case r: TicksRange => r }.flatMap(r => r.from until r.until)
    private val row   = new GenericInternalRow(1)

    override def poll(patience: Duration): Poll = ticks.nextOption().fold[Poll](Poll.Ended) { n =>
      row.update(0, n)
      Poll.Found
    }
    override def get(): InternalRow = row
    override def close(): Unit      = ()
  }
}
