// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import java.time.Duration

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.hybrid.internal.chain.LegErrors
import splice.hybrid.internal.select.RowShape
import splice.hybrid.{Legs, LocalSpark}
import splice.source.runtime.Report
import splice.source.{Poll, Position, Source, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}
import splice.testkit.internal.memory.MemoryLog

final class HybridReadersSuite extends AnyFunSuite with LocalSpark {

  private trait World {
    val live: MemoryLog = Legs.log()
    (0 until 10).foreach(i => live.append(i % 2, i.toLong))
    val history: MemoryLog = Legs.archiveOf(live, Map(0 -> 3, 1 -> 2))

    def historySelect: String = "id, topic"
    def liveSelect: String    = "id, topic"

    lazy val source: Source[_ <: Position] = Legs.source(
      Legs.history(history, "columnar" -> "true", "select"    -> historySelect),
      Legs.live(live, "handOver"       -> "offsets", "select" -> liveSelect)
    )
    lazy val c: Coordinator = Legs.run(source)
    lazy val start          = c.initial()
    lazy val ended          = c.advance(start, everything = true)
    lazy val until          = c.advance(ended, everything = true)

    def readers(from: Position, until: Position, ddl: String): SplitReaderFactory =
      c.readers(StructType.fromDDL(ddl), c.tasks(from, until))

    def rows(from: Position, until: Position, ddl: String): Seq[String] = {
      val columns = StructType.fromDDL(ddl)
      c.tasks(from, until).flatMap { task =>
        Using.resource(readers(from, until, ddl).rows(task)) { reader =>
          SplitReader.items(reader).map(line(_, columns)).toVector
        }
      }.sorted
    }

    def vectors(from: Position, until: Position, ddl: String): Seq[String] = {
      val columns = StructType.fromDDL(ddl)
      c.tasks(from, until).flatMap { task =>
        Using.resource(readers(from, until, ddl).batches(task)) { reader =>
          SplitReader.items(reader).flatMap { batch =>
            (0 until batch.numRows).map(i => line(batch.getRow(i), columns))
          }.toVector
        }
      }.sorted
    }

    private def line(row: InternalRow, columns: StructType): String =
      columns.indices.map(i => row.get(i, columns(i).dataType).toString).mkString("|")
  }

  test("column vectors of one leg are forwarded in the requested order, with the name of the leg") {
    new World {
      assert(source.mayBeColumnar)
      assert(readers(start, ended, "id BIGINT, topic STRING").columnar)
      assert(vectors(start, ended, "topic STRING, _leg STRING, id BIGINT") ==
        (Seq(0, 1, 2, 3, 4).map(i => s"${live.name}|history|$i")))
      assert(vectors(start, ended, "id BIGINT") == Seq("0", "1", "2", "3", "4"))
      assert(rows(start, ended, "topic STRING, _leg STRING, id BIGINT") ==
        vectors(start, ended, "topic STRING, _leg STRING, id BIGINT"))
    }
  }

  test("a row-based leg and a batch over both legs are read as rows") {
    new World {
      assert(!readers(ended, until, "id BIGINT").columnar)
      assert(!readers(start, until, "id BIGINT").columnar)
      assert(rows(ended, until, "_leg STRING, id BIGINT") == Seq(5, 6, 7, 8, 9).map(i => s"live|$i"))
      assert(
        rows(start, until, "_leg STRING, id BIGINT") ==
          Seq(0, 1, 2, 3, 4).map(i => s"history|$i") ++ Seq(5, 6, 7, 8, 9).map(i => s"live|$i")
      )
    }
  }

  test("computed columns are read as rows") {
    new World {
      override def historySelect: String = "id + 100 AS id, topic"
      assert(!source.mayBeColumnar && !readers(start, ended, "id BIGINT").columnar)
      assert(rows(start, ended, "id BIGINT") == Seq("100", "101", "102", "103", "104"))
    }
  }

  test("a constant null is a vector of nulls, and a constant that is not text is read as rows") {
    new World {
      override def historySelect: String = "id, CAST(NULL AS STRING) AS topic"
      override def liveSelect: String    = "id, CAST(NULL AS STRING) AS topic"
      private val ddl                    = "topic STRING, id BIGINT"
      assert(readers(start, ended, ddl).columnar)
      val cells: Seq[(Boolean, Long)] = c.tasks(start, ended).flatMap { task =>
        Using.resource(readers(start, ended, ddl).batches(task)) { reader =>
          SplitReader.items(reader).flatMap { batch =>
            assert(batch.numCols == 2)
            (0 until batch.numRows).map(i => (batch.column(0).isNullAt(i), batch.column(1).getLong(i)))
          }.toVector
        }
      }
      assert(cells.sorted == Seq(0L, 1L, 2L, 3L, 4L).map(true -> _))
    }
    new World {
      override def historySelect: String = "id, 7L AS n"
      override def liveSelect: String    = "id, 7L AS n"
      assert(!readers(start, ended, "n BIGINT, id BIGINT").columnar)
      assert(rows(start, ended, "n BIGINT, id BIGINT") == Seq(0, 1, 2, 3, 4).map(i => s"7|$i"))
    }
  }

  test("columns that are read only for counting are not forwarded") {
    new World {
      c.tasks(start, ended).foreach { task =>
        Using.resource(readers(start, ended, "id BIGINT").batches(task)) { reader =>
          assert(SplitReader.items(reader).map(_.numCols).toSet == Set(1))
        }
        Using.resource(readers(start, ended, "id BIGINT").rows(task)) { reader =>
          assert(SplitReader.items(reader).map(_.numFields).toSet == Set(1))
        }
      }
    }
  }

  test("a batch without ranges is not columnar") {
    new World {
      assert(!c.readers(source.schema, Nil).columnar)
      assert(c.tasks(until, until).isEmpty)
    }
  }

  test("only legs of the batch are used, and each list is compiled once") {
    new World {
      val between: Seq[TaskRanges] = c.tasks(ended, until)
      val counted: Int             = history.requested("readers")
      rows(ended, until, "id BIGINT")
      assert(between.nonEmpty && history.requested("readers") == counted)
      readers(ended, until, "id BIGINT")
      val requested: Int = live.requested("schema")
      readers(ended, until, "id BIGINT")
      assert(live.requested("schema") == requested)
    }
  }

  test("one task may have ranges of several legs") {
    new World {
      val ranges: IndexedSeq[SplitRange] = c.tasks(start, until).flatMap(_.ranges).toIndexedSeq
      val task: TaskRanges               = TaskRanges(Some(0), ranges)
      Using.resource(readers(start, until, "id BIGINT, _leg STRING").rows(task)) { reader =>
        val read = SplitReader.items(reader).map(_.getLong(0)).toVector
        assert(read.sorted == (0L until 10L).toVector)
        assert(reader.metrics.isEmpty)
      }
    }
  }

  test("a reader of a leg has the changes and the backlog of the reader of the source") {
    val view  = RowShape.View(IndexedSeq(RowShape.Cell.Column(0)), IndexedSeq(LongType))
    var stale = false
    object Fixed extends SplitReaderFactory {
      override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
        override def poll(patience: Duration): Poll = Poll.Pending
        override def get(): InternalRow             = fail("nothing was found")
        override def isStale: Boolean               = stale
        override def backlog: Seq[Report]           = Seq(Report("live", Boolean.box(stale)))
        override def close(): Unit                  = ()
      }
    }
    Seq[RowShape](RowShape.Same, view).foreach { shape =>
      val reader = LegReaders(Fixed, shape, new LegErrors("live", "kafka")).rows(TaskRanges(None, IndexedSeq.empty))
      Seq(false, true).foreach { is =>
        stale = is
        assert(reader.isStale == is && reader.backlog == Seq(Report("live", Boolean.box(is))))
      }
    }
  }

  test("the metadata column has the name of the leg") {
    new World {
      assert(source.metadataColumns.map(f => f.name -> f.dataType) == Seq("_leg" -> StringType))
    }
  }
}
