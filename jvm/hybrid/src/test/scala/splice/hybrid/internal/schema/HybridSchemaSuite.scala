// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.schema

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.split.LegRange
import splice.hybrid.{Legs, LocalSpark}
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.{Position, Source, SplitEnumerator}
import splice.testkit.internal.memory.{MemoryLog, MemorySource}

final class HybridSchemaSuite extends AnyFunSuite with LocalSpark {

  private val log = Legs.log()

  private def chain(history: String, live: String, more: (String, String)*): Source[_ <: Position] = {
    def select(text: String) = if (text.isEmpty) Nil else Seq("select" -> text)
    Legs.source(Legs.options(Legs.history(log, select(history): _*), Legs.live(log, select(live): _*)) ++ more)
  }

  private def refuses(source: => Source[_ <: Position], condition: String, texts: String*): Unit = {
    val error = intercept[SpliceException] {
      val created = source
      val _       = created.schema
      created.preflight(new MemorySideLog, _ => false)
    }
    assert(error.getCondition == s"SPLICE_SCHEMA.$condition", error.getMessage)
    texts.foreach(text => assert(error.getMessage.contains(text), error.getMessage))
  }

  test("the default columns are the columns of the last leg, all nullable") {
    assert(chain("", "").schema == MemorySource.Schema)
    assert(chain("id, CAST(offset AS STRING) AS at", "id, CAST(id AS STRING) AS at").schema ==
      StructType.fromDDL("id BIGINT, at STRING"))
    assert(chain("1 AS n", "2 AS n").schema == StructType.fromDDL("n INT"))
  }

  test("the option schema sets the columns and their order") {
    val declared = chain("offset AS at, id", "id, offset AS at", "schema" -> "at BIGINT NOT NULL, id BIGINT")
    assert(declared.schema == StructType.fromDDL("at BIGINT, id BIGINT"))
  }

  test("comments, other metadata and nullability of nested fields are not parts of a type") {
    def struct(a: String) = s"""from_json(CAST(id AS STRING), "c STRUCT<a: INT$a>, l ARRAY<STRUCT<b: INT$a>>") AS s"""
    assert(chain(struct(" COMMENT 'home'"), struct("")).schema == StructType.fromDDL(
      "s STRUCT<c: STRUCT<a: INT>, l: ARRAY<STRUCT<b: INT>>>"
    ))
    assert(chain(struct(""), struct(" NOT NULL COMMENT 'x'")).schema.nonEmpty)
    refuses(chain(struct(""), struct("").replace("INT", "BIGINT")), "COLUMN_TYPE_MISMATCH")
  }

  test("names are matched with the case sensitivity of the session") {
    assert(chain("id AS ID", "id").schema.fieldNames.toSeq == Seq("id"))
  }

  test("the error for different types has the leg, the column and both types") {
    refuses(
      chain("id, CAST(offset AS INT) AS at", "id, offset AS at"),
      "COLUMN_TYPE_MISMATCH",
      "Column 'at' of leg 'history' has type INT",
      "the hybrid source has type BIGINT",
      "'history.select'"
    )
    refuses(chain("id", "id", "schema" -> "id STRING"), "COLUMN_TYPE_MISMATCH", "of leg 'live'", "BIGINT", "STRING")
  }

  test("a missing and an additional column are rejected") {
    refuses(
      chain("id", "id, offset AS at"),
      "COLUMN_NOT_FOUND",
      "Leg 'history' does not have column 'at' of type BIGINT",
      "The leg has the columns id"
    )
    refuses(
      chain("", "id"),
      "EXTRA_COLUMN",
      "Leg 'history' has column 'topic'",
      "columns of the hybrid source are id",
      "'history.select'"
    )
    refuses(chain("id", "", "schema" -> "id BIGINT"), "EXTRA_COLUMN", "Leg 'live' has column 'topic'")
  }

  test("a duplicate column is rejected") {
    refuses(chain("id, id", "id"), "DUPLICATE_COLUMN", "Leg 'history' has column 'id' several times")
    refuses(
      chain("id", "id, offset AS ID"),
      "DUPLICATE_COLUMN",
      "Leg 'live' has column 'id' several times",
      "'live.select'"
    )
  }

  test("a column named _leg is rejected") {
    refuses(
      chain("id, topic AS _leg", "id"),
      "RESERVED_COLUMN",
      "Leg 'history' has a column '_leg'",
      "'history.select'"
    )
    refuses(chain("id", "id, topic AS _Leg"), "RESERVED_COLUMN", "Leg 'live' has a column '_Leg'", "'live.select'")
  }

  test("the schema of a leg is checked at the start and at its first read, unless the leg has ended") {
    val gone   = Legs.log()
    val source =
      Legs.source(Legs.history(gone, "select" -> "CAST(id AS STRING) AS id"), Legs.live(log, "select" -> "id"))
    gone.remove()
    assert(source.schema == StructType.fromDDL("id BIGINT"))
    assert(intercept[SpliceException](source.preflight(new MemorySideLog, _ => false)).getCondition ==
      "SPLICE_MEMORY.LOG_NOT_FOUND")
    val range  = LegRange("history", splice.testkit.internal.memory.MemoryRange(gone.name, 0, 0, 1, slotted = false))
    def read() = SplitEnumerator.untyped(source, Legs.context(new MemorySideLog)).readers(source.schema, Seq(range))
    assert(intercept[SpliceException](read()).getCondition == "SPLICE_MEMORY.LOG_NOT_FOUND")
    val back = new MemoryLog(gone.name)
    back.addPartitions(1)
    assert(intercept[SpliceException](read()).getCondition == "SPLICE_SCHEMA.COLUMN_TYPE_MISMATCH")
  }

  test("an invalid SELECT list is not reported as missing storage") {
    val error = intercept[SpliceOptionException](chain("nothing", "id").preflight(new MemorySideLog, _ => false))
    assert(error.getCondition == "SPLICE_SELECT.INVALID_EXPRESSION" && error.getMessage.contains("'history.select'"))
  }

  test("a restart in the last leg succeeds without the storage of the first leg") {
    val (live, durable) = (Legs.log(), new MemorySideLog)
    live.append(0, 1)
    val history = Legs.archiveOf(live, Map(0 -> 1))
    def source  =
      Legs.source(Legs.history(history, "select" -> "id"), Legs.live(live, "handOver" -> "offsets", "select" -> "id"))
    val first = Legs.run(source, durable)
    val until = first.advance(first.advance(first.initial(), everything = false), everything = false)
    history.remove()
    live.append(0, 2)
    val again  = source
    val second = Legs.run(again, durable)
    val at     = second.position(until.json)
    val ranges = second.ranges(at, second.advance(at, everything = false))
    assert(again.schema == StructType.fromDDL("id BIGINT"))
    second.readers(again.schema, second.tasks(at, second.advance(at, everything = false)))
    assert(ranges.size == 1)
  }
}
