// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import java.time.Clock
import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import splice.source._
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.streams.fake.{FakeLog, FakeOffset, FakeProvider, FakeQuery}
import splice.streams.internal.split.StreamPosition

final class StreamQuerySuite extends AnyFunSuite with LocalSpark {

  /** Query over a stream with ten rows. */
  private class World(more: (String, String)*) {
    val log   = new FakeLog(UUID.randomUUID().toString)
    val query = new FakeQuery(
      Map("source" -> "stream", "format" -> FakeProvider.Format, "log" -> log.name) ++ more
    )
    log.grow(10)
  }

  private val bounded = "bounded" -> "true"

  test("the text of an inner offset stays byte for byte in the position, and the stream receives this text") {
    new World {
      query.run()
      val position = StreamPosition.read(query.last)
      assert(position.inner == FakeOffset.text(10) && position.n == 3)
      assert(!query.last.exists(_ < ' '), "the position has one line")
      log.grow(1)
      query.run()
      assert(query.ids == (0L to 10L))
      // FakeOffset rejects each other text.
      assert(log.count("seen 10") == 1)
    }
  }

  test("batches have the default limit of the stream, and one batch of everything has no limit") {
    new World {
      query.run()
      assert(query.batches == Seq(0L to 3L, 4L to 7L, 8L to 9L))
    }
    new World("maxRows" -> "6") {
      query.run()
      assert(query.batches == Seq(0L to 5L, 6L to 9L))
    }
  }

  test("a run with Trigger.AvailableNow ends at the end of its start") {
    new World {
      query.run(frozen = true, _ => log.grow(5))
      assert(query.ids == (0L to 9L))
      assert(log.count("prepare") == 1)
    }
  }

  test("without support of Trigger.AvailableNow, a run takes the latest offset once and without a limit") {
    Seq("plain", "admitted").foreach { kind =>
      new World("stream" -> kind) {
        query.run(frozen = true, _ => log.grow(5))
        assert(query.batches == Seq(0L to 9L), kind)
        query.run(frozen = true, _ => log.grow(5))
        assert(query.batches == Seq(0L to 9L, 10L to 14L), kind)
      }
    }
  }

  test("a stream without support of Trigger.AvailableNow cannot be bounded") {
    Seq("plain", "admitted").foreach { kind =>
      new World("stream" -> kind, bounded) {
        val error = intercept[SpliceOptionException](query.run())
        assert(error.getCondition == "SPLICE_STREAM_OPTION.END_NOT_SUPPORTED")
        assert(error.getMessage.contains("'bounded' is 'true'") && log.called.last == "stop")
      }
    }
  }

  test("the end of a bounded stream is durable, and later runs do not create the stream again") {
    new World(bounded) {
      query.run(between = _ => log.grow(5))
      assert(query.ids == (0L to 9L))
      assert(query.log.get("ended").exists(_.contains(query.last)))
      val calls: Int = log.called.size
      log.remove()
      query.run()
      query.run(frozen = true)
      assert(log.called.size == calls && query.ids == (0L to 9L))
    }
  }

  test("a logged batch of an ended stream is read again, without a new end") {
    new World(bounded) {
      query.run()
      query.rollBack(1)
      log.grow(5)
      val before: Int = log.count("prepare")
      query.run()
      assert(query.ids == (0L to 9L) && log.count("prepare") == before)
      assert(query.batches.size == 3)
    }
  }

  test("a batch that is read again has the partitions between its offsets, and not up to a new offset") {
    new World {
      query.run()
      query.rollBack(1)
      log.grow(7)
      query.run()
      assert(query.batches == Seq(0L to 3L, 4L to 7L, 8L to 11L, 12L to 15L, Seq(16L)))
    }
  }

  test("the stream receives the commits, the last offset of a restart and its stop, in Spark's order") {
    new World {
      query.run()
      assert(log.called.map(_.takeWhile(_ != '/')).filterNot(_.startsWith("latest")) == Seq(
        "create file:",
        "initialOffset",
        "plan 0 4",
        "plan 4 8",
        "commit 4",
        "plan 8 10",
        "commit 8",
        "stop"
      ))
      val before: Int = log.called.size
      log.grow(1)
      query.run(frozen = true)
      assert(log.called.drop(before).tail ==
        Seq("prepare", "seen 10", "latestOffset 10", "plan 10 11", "commit 10", "latestOffset 11", "stop"))
    }
  }

  test("the files of the stream are in the folder 'spark' of the side log") {
    new World {
      query.run()
      assert(log.called.head == s"create ${query.log.folder("spark")}")
    }
  }

  /** Enumerator of one run. */
  private def enumerator(world: World): SplitEnumerator[Position] = SplitEnumerator.untyped(
    world.query.source(),
    EnumeratorContext(world.query.log, ReadMode.Stream, Clock.systemUTC(), 2, "test")
  )

  test("the progress has the figures of the stream, and Splice's own position") {
    val world = new World
    Using.resource(enumerator(world)) { run =>
      val start = run.start(StartPosition.Configured)
      val until = run.advance(start, run.limits(start))
      assert(run.figures(until).get("rowsLeft").contains("6"))
      assert(run.figures(until).get("position").contains(s"1: ${FakeOffset.text(4)}"))
    }
    Using.resource(enumerator(world))(run => assert(run.figures(StreamPosition("x", 1)).size == 1))
    assert(world.log.count("create") == 1)
  }

  test("a hand-over can set the start to an offset of the stream") {
    val world = new World
    Using.resource(enumerator(world)) { run =>
      val start = run.start(StartPosition.Exact(FakeOffset.text(7)))
      assert(start == StreamPosition(FakeOffset.text(7), 0))
      run.advance(start, Limits.Everything)
      assert(world.log.called.tail == Seq("seen 7", "latestOffset 7", "latestOffset 7", "plan 7 10"))
      Seq("""{"at":7}""", FakeOffset.text(99)).foreach { other =>
        val error = intercept[SpliceException](run.start(StartPosition.Exact(other)))
        assert(error.getCondition == "SPLICE_STREAM.INVALID_POSITION")
        assert(error.getMessage.contains(s"rejects the offset '$other'"))
      }
    }
  }

  test("a start at an offset gets a new end, because the end of the run may be before the offset") {
    val world = new World
    Using.resource(enumerator(world)) { run =>
      run.freeze()
      world.log.grow(5)
      val start = run.start(StartPosition.Exact(FakeOffset.text(12)))
      world.log.grow(5)
      assert(run.advance(start, Limits.Everything) == StreamPosition(FakeOffset.text(15), 1))
    }
  }

  test("tasks report the metrics of the stream and prefer its hosts") {
    Seq("true", "false").foreach { columnar =>
      val world = new World("columnar" -> columnar)
      assert(world.query.source().taskMetrics.map(_.name) == Seq("fakeRows"))
      Using.resource(enumerator(world)) { run =>
        val start   = run.start(StartPosition.Configured)
        val ranges  = run.splits(start, run.advance(start, Limits.Everything))
        val readers = run.readers(FakeProvider.Schema, ranges)
        assert(ranges.map(_.preferredHosts) == Seq(Seq("host-0"), Seq("host-1"), Seq("host-2")))
        assert(readers.columnar == columnar.toBoolean)
        Using.resource(readers.rows(TaskRanges(None, ranges.take(1).toIndexedSeq))) { reader =>
          assert(SplitReader.items(reader).map(row => row.getLong(0) -> row.getString(1)).toVector ==
            Seq(0, 3, 6, 9).map(id => id.toLong -> "row"))
          assert(reader.metrics.map(m => m.name -> m.value).toSeq == Seq("fakeRows" -> 4L))
        }
        if (readers.columnar) {
          val columns = new StructType().add("text", StringType).add("id", LongType)
          Using.resource(run.readers(columns, ranges).batches(TaskRanges(None, ranges.take(1).toIndexedSeq))) {
            reader =>
              val rows = SplitReader.items(reader).flatMap(_.rowIterator.asScala.map(row => row.getLong(1))).toVector
              assert(rows == Seq(0L, 3L, 6L, 9L))
          }
        }
      }
    }
  }
}
