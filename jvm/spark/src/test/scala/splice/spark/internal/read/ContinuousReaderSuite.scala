// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import java.time.{Duration, Instant}

import scala.collection.mutable

import org.apache.commons.lang3.SerializationUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.scalatest.funsuite.AnyFunSuite

import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}
import splice.testkit.simulation.SimulatedClock

/** The backlog that a task of continuous mode reports while it runs. */
final class ContinuousReaderSuite extends AnyFunSuite {

  import ContinuousReaderSuite._

  private val second = Duration.ofSeconds(1)

  /** The number in the report that the driver receives with this offset; None without a report. */
  private def reported(offset: PartitionOffset): Option[Int] = SerializationUtils.roundtrip(offset) match {
    case epoch: EpochOffset =>
      epoch.state.backlog.collectFirst { case Report(Name, number: Integer) => number.intValue }
    case other => fail(other.toString)
  }

  test("a task reports its backlog at most once per second, and at once after the clock was set back") {
    val clock    = new SimulatedClock(Instant.EPOCH)
    val reader   = new ContinuousReader(new Numbered(mutable.Queue.empty), clock)
    def report() = {
      assert(reader.next())
      reported(reader.getOffset)
    }
    assert(reported(reader.getOffset).isEmpty && report().isEmpty, "no server may have responded at the start")
    clock.advance(second)
    assert(report().contains(1) && report().contains(1))
    clock.advance(second.minusMillis(1))
    assert(report().contains(1))
    clock.advance(Duration.ofMillis(1))
    assert(report().contains(2))
    clock.set(second.multipliedBy(-10))
    assert(report().contains(3) && report().contains(3))
  }

  test("the offset of the last row has the backlog that the task finds while it waits for the next row") {
    val clock   = new SimulatedClock(Instant.EPOCH)
    val pending = mutable.Queue.empty[() => Unit]
    val reader  = new ContinuousReader(new Numbered(pending), clock)
    assert(reader.next())
    val first = reader.getOffset
    val found = mutable.ArrayBuffer.empty[Option[Int]]
    Seq.fill(3)(pending += { () =>
      found += reported(first)
      clock.advance(second)
    })
    assert(reader.next())
    assert(found == Seq(None, Some(1), Some(2)))
    assert(reported(first).contains(3) && reported(reader.getOffset).contains(3))
  }

  test("the offset has the unread ranges and the skipped items of the same time, until the next row and at the end") {
    final class Skipping(polls: Iterator[Poll]) extends SplitReader[InternalRow] {
      private var number = 0

      override def poll(patience: Duration): Poll = {
        number += 1
        polls.next()
      }

      override def get(): InternalRow      = InternalRow.empty
      override def unread: Seq[SplitRange] = Seq(Numbers(number))
      override def skipped: Seq[Report]    = Seq.tabulate(number)(at => Report(Name, Int.box(at)))
      override def close(): Unit           = ()
    }
    val reader = new ContinuousReader(new Skipping(Iterator(Poll.Found, Poll.Pending, Poll.Found, Poll.Ended)))
    def sent(offset: PartitionOffset): (Seq[Int], Int) = SerializationUtils.roundtrip(offset) match {
      case epoch: EpochOffset => epoch.state.unread.collect { case Numbers(at) => at } -> epoch.state.skipped.size
      case other              => fail(other.toString)
    }
    assert(reader.next() && sent(reader.getOffset) == Seq(1) -> 1)
    val first = reader.getOffset
    assert(reader.next() && sent(first) == Seq(2)            -> 2 && sent(reader.getOffset) == Seq(3) -> 3)
    Thread.currentThread().interrupt()
    intercept[InterruptedException](reader.next())
    assert(sent(reader.getOffset) == Seq(4) -> 4)
  }
}

private object ContinuousReaderSuite {

  final private case class Numbers(at: Int) extends SplitRange {
    override def splitId: String = Name
  }

  private val Name = "t-0"

  /** Reader that returns rows, and whose reports have numbers.
    *
    * @param pending
    *   what occurs in each next poll without a row
    */
  final private class Numbered(pending: mutable.Queue[() => Unit]) extends SplitReader[InternalRow] {
    private var number = 0

    override def poll(patience: Duration): Poll = if (pending.isEmpty) Poll.Found
    else {
      pending.dequeue()()
      Poll.Pending
    }

    override def backlog: Seq[Report] = {
      number += 1
      Seq(Report(Name, Int.box(number)))
    }

    override def get(): InternalRow      = InternalRow.empty
    override def unread: Seq[SplitRange] = Nil
    override def close(): Unit           = ()
  }
}
