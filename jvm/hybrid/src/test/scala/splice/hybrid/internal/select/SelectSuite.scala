// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import java.sql.Timestamp
import java.time.Duration

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.LocalSpark
import splice.hybrid.internal.chain.LegErrors
import splice.hybrid.internal.reader.LegReaders
import splice.source.errors.SpliceOptionException
import splice.source.runtime.SessionSettings
import splice.source.{Poll, SplitReader, SplitReaderFactory, TaskRanges}

final class SelectSuite extends AnyFunSuite with LocalSpark {

  private val kafka = StructType.fromDDL(
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
  )
  private val hidden = StructType.fromDDL("_file_path STRING, _file_size BIGINT")

  private def session: ClassicSession = spark.asInstanceOf[ClassicSession]

  private def plan(text: String, pinned: SessionSettings = SessionSettings.current): SelectPlan =
    SelectPlan.analyse(session, pinned, "live.select", text, kafka, hidden)

  private def bytes(text: String): Array[Byte] = text.getBytes("UTF-8")

  private val records = Seq[Seq[Any]](
    Seq[Any](
      bytes("k1"),
      bytes("""{"amount":1.5,"ts":"2024-01-01 00:00:00"}"""),
      UTF8String.fromString("t"),
      0,
      10L,
      1000000L,
      0
    ),
    Seq[Any](None.orNull, bytes("no json"), UTF8String.fromString("t"), 1, 11L, 2000000L, 0)
  )

  /** Readers of a leg over records, with the requested columns in one reused row. */
  private class Records(columns: StructType) extends SplitReaderFactory {
    override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
      private val rest = records.iterator
      private val row  = new GenericInternalRow(columns.size)

      override def poll(patience: Duration): Poll = rest.nextOption().fold[Poll](Poll.Ended) { values =>
        columns.fieldNames.zipWithIndex.foreach { case (name, i) =>
          row.update(i, if (name == "_file_path") UTF8String.fromString("/a") else values(kafka.fieldIndex(name)))
        }
        Poll.Found
      }
      override def get(): InternalRow = row
      override def close(): Unit      = ()
    }
  }

  private def read(plan: SelectPlan, columns: StructType): Seq[String] = {
    val select = plan.compile(columns, "live")
    Using.resource(LegReaders(
      new Records(select.columns),
      select.shape,
      new LegErrors("leg", "memory")
    ).rows(TaskRanges(None, IndexedSeq.empty))) {
      reader =>
        SplitReader
          .items(reader)
          .map { shown =>
            val row = shown.copy()
            columns.indices.map(i => if (row.isNullAt(i)) "null" else text(row.get(i, columns(i).dataType))).mkString(
              "|"
            )
          }
          .toVector
    }
  }

  private def text(value: Any): String = value match {
    case b: Array[Byte] => new String(b, "UTF-8")
    case other          => other.toString
  }

  private def rows(list: String): Seq[String] = {
    val created = plan(list)
    read(created, created.schema)
  }

  private def refused(list: String): SpliceOptionException = intercept[SpliceOptionException](plan(list))

  private def refuses(list: String, condition: String, texts: String*): Unit = {
    val error = refused(list)
    assert(error.getCondition == s"SPLICE_SELECT.$condition", s"$list: ${error.getMessage}")
    ("'live.select'" +: texts).foreach(t => assert(error.getMessage.contains(t), s"$list: ${error.getMessage}"))
  }

  test("the list in the README is evaluated") {
    val list = "CAST(key AS STRING) AS order_id, from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount, " +
      "timestamp AS event_time"
    assert(plan(list).schema == StructType.fromDDL("order_id STRING, amount DOUBLE, event_time TIMESTAMP"))
    assert(rows(list) == Seq("k1|1.5|1000000", "null|null|2000000"))
  }

  test("lateral aliases, fields, lambdas and stars are evaluated") {
    assert(
      rows("from_json(CAST(value AS STRING), 'amount DOUBLE') AS o, o.amount + 1 AS more").map(_.split("\\|").last) ==
        Seq("2.5", "null")
    )
    assert(rows("array_max(transform(array(partition, 3), x -> x * 2)) AS m") == Seq("6", "6"))
    assert(plan("*").schema.fieldNames.toSeq == kafka.fieldNames.toSeq)
    assert(plan("*, _file_path AS path").schema.fieldNames.toSeq == kafka.fieldNames.toSeq :+ "path")
    assert(plan("* EXCEPT (key, value)").schema.fieldNames.toSeq == kafka.fieldNames.toSeq.drop(2))
  }

  test("columns are matched case-insensitively, and columns of the rows hide metadata columns") {
    def requested(text: String) = plan(text).compile(StructType.fromDDL("c STRING"), "live").columns.fieldNames.toSeq
    assert(requested("_FILE_PATH AS c") == Seq("_file_path"))
    assert(requested("CAST(VALUE AS STRING) AS c") == Seq("value") && requested("TOPIC AS c") == Seq("topic"))
    val own     = kafka.add("_File_Size", StringType)
    val created = SelectPlan.analyse(
      session,
      SessionSettings.current,
      "live.select",
      "_file_size AS size, _file_path AS path, *",
      own,
      hidden
    )
    assert(created.schema.fields.take(2).map(_.dataType).toSeq == Seq(StringType, StringType))
    assert(created.schema.fieldNames.drop(2).toSeq == own.fieldNames.toSeq)
    assert(
      created.compile(StructType.fromDDL("size STRING"), "live").columns.map(f => f.name -> f.dataType) ==
        Seq("_File_Size" -> StringType),
      "the text of the rows"
    )
  }

  test("the leg receives its own columns with their metadata") {
    val own     = StructType.fromDDL("id BIGINT COMMENT 'number of the order', name STRING")
    val created = SelectPlan.analyse(session, SessionSettings.current, "live.select", "Name, ID AS id", own, hidden)
    assert(created.compile(created.schema, "live").columns == StructType(own.reverse))
  }

  test("functions of the session are available") {
    spark.udf.register("twice", udf((n: Long) => n * 2))
    assert(rows("twice(offset) AS n") == Seq("20", "22"))
  }

  test("only the needed columns are requested from the leg") {
    val created = plan("CAST(key AS STRING) AS k, offset + partition AS n, topic AS t, _file_path AS path")
    def requested(ddl: String) = created.compile(StructType.fromDDL(ddl), "live").columns.fieldNames.toSeq
    assert(requested("n BIGINT, k STRING") == Seq("offset", "partition", "key"))
    assert(requested("t STRING") == Seq("topic"))
    assert(requested("path STRING") == Seq("_file_path"))
    assert(requested("_leg STRING").isEmpty)
    assert(read(created, StructType.fromDDL("path STRING, n BIGINT")) == Seq("/a|10", "/a|12"))
  }

  test("unchanged columns are forwarded in the order and with the names of the list") {
    val created            = plan("offset AS n, topic, offset AS again")
    def shape(ddl: String) = created.compile(StructType.fromDDL(ddl), "live").shape
    assert(shape("topic STRING, n BIGINT") == RowShape.Same)
    assert(shape("n BIGINT, again BIGINT").columnar)
    assert(shape("n BIGINT, again BIGINT") != RowShape.Same)
    assert(read(created, StructType.fromDDL("again BIGINT, topic STRING, n BIGINT")).head == "10|t|10")
  }

  test("_leg is at the requested position") {
    val created = plan("offset AS n, partition + 1 AS p")
    assert(read(created, StructType.fromDDL("_leg STRING, n BIGINT")) == Seq("live|10", "live|11"))
    assert(read(created, StructType.fromDDL("p INT, _leg STRING")) == Seq("1|live", "2|live"))
    assert(created.compile(StructType.fromDDL("n BIGINT, _leg STRING"), "live").shape.columnar)
    assert(!created.compile(StructType.fromDDL("p INT"), "live").shape.columnar)
  }

  test("computed lists and views support every type") {
    val list =
      "CAST(1.25 AS DECIMAL(10,2)) AS d, CAST(1.25 AS DECIMAL(38,2)) AS w, DATE'2024-01-01' AS day, CAST(1 AS TINYINT) AS b, " +
        "CAST(2 AS SMALLINT) AS s, CAST(1.5 AS FLOAT) AS f, partition = 0 AS yes, map('a', offset) AS m, " +
        "named_struct('x', offset) AS st, array(topic) AS a, parse_json('{\"x\":1}') AS v, INTERVAL '1' DAY * partition AS i, key"
    assert(rows(list).map(_.split("\\|").length) == Seq(13, 13))
    assert(rows(list).head.startsWith("1.25|1.25|19723|1|2|1.5|true|"))
    assert(rows("key, value, topic, offset AS o, offset AS p").head == s"k1|${text(records.head(1))}|t|10|10")
  }

  test("expressions that a reader cannot evaluate are rejected by name") {
    refuses("count(*) AS n", "EXPRESSION_NOT_SUPPORTED", "the aggregate function count", "aggregate after the source")
    refuses("topic, max(offset) AS n", "EXPRESSION_NOT_SUPPORTED", "the aggregate function max")
    refuses(
      "row_number() OVER (PARTITION BY topic ORDER BY offset) AS n",
      "EXPRESSION_NOT_SUPPORTED",
      "the window function"
    )
    refuses("explode(array(1, 2)) AS n", "EXPRESSION_NOT_SUPPORTED", "the generator function explode", "one row")
    refuses("(SELECT 1) AS n", "EXPRESSION_NOT_SUPPORTED", "a subquery", "join after the source")
    refuses("offset IN (SELECT 1) AS n", "EXPRESSION_NOT_SUPPORTED", "a subquery")
    refuses("EXISTS (SELECT 1) AS n", "EXPRESSION_NOT_SUPPORTED", "a subquery")
    refuses("rand() AS n", "EXPRESSION_NOT_SUPPORTED", "the non-deterministic function rand")
    refuses("uuid() AS n", "EXPRESSION_NOT_SUPPORTED", "the non-deterministic function uuid")
    refuses("monotonically_increasing_id() AS n", "EXPRESSION_NOT_SUPPORTED", "monotonically_increasing_id")
    refuses("input_file_name() AS n", "EXPRESSION_NOT_SUPPORTED", "input_file_name")
    refuses("current_timestamp() AS n", "EXPRESSION_NOT_SUPPORTED", "current_timestamp", "must produce the same rows")
    refuses("CAST(now() AS STRING) AS n", "EXPRESSION_NOT_SUPPORTED", "now")
    refuses("current_date AS n", "EXPRESSION_NOT_SUPPORTED", "current_date")
    refuses("CAST(current_time(3) AS STRING) AS n", "EXPRESSION_NOT_SUPPORTED", "current_time")
    refuses("localtimestamp() AS n", "EXPRESSION_NOT_SUPPORTED", "localtimestamp")
    refuses("current_user() AS n", "EXPRESSION_NOT_SUPPORTED", "user")
    refuses("current_database() AS n", "EXPRESSION_NOT_SUPPORTED", "current_")
    for (value <- Seq("now", " Today ", "tomorrow", "yesterday UTC"); kind <- Seq("TIMESTAMP", "TIMESTAMP_NTZ", "DATE"))
      Seq(s"CAST('$value' AS $kind)", s"$kind '$value'").foreach { expression =>
        refuses(s"$expression AS n", "EXPRESSION_NOT_SUPPORTED", "the special value")
      }
    Seq(
      "concat(DATE r'today', key)",
      "CAST(lower('TODAY') AS DATE)",
      "CAST(CAST('today' AS STRING) AS DATE)",
      "to_date('today')",
      "to_timestamp(trim(' now '))"
    ).foreach(expression => refuses(s"$expression AS n", "EXPRESSION_NOT_SUPPORTED", "the special value"))
    spark.conf.set("splice.test.host", "here")
    Seq("env:PATH", "system:user.name", "splice.test.host", "hivevar:splice.test.host").foreach { name =>
      refuses(s"concat(key, '$${$name}') AS n", "EXPRESSION_NOT_SUPPORTED", "a variable that Spark replaces")
    }
    assert(plan("concat(key, '${') AS n, '$1' AS m").schema.size == 2)
    assert(plan("DATE 'epoch' AS n, DATE '2026-01-01' AS m, DATE('2026-01-02') AS o").schema.size == 3)
    assert(plan("CAST('epoch' AS STRING) AS n, CAST('now' AS STRING) AS m").schema.size == 2)
    spark.sql("DECLARE OR REPLACE VARIABLE of_session BIGINT DEFAULT 4")
    refuses("offset + of_session AS n", "EXPRESSION_NOT_SUPPORTED", "the session variable", "of_session")
    spark.udf.register("dice", udf(() => 4).asNondeterministic())
    refuses("dice() AS n", "EXPRESSION_NOT_SUPPORTED", "the non-deterministic function")
  }

  test("a statement that is more than a list is rejected") {
    refuses("offset FROM elsewhere", "NOT_A_LIST", "Relation")
    refuses("offset WHERE offset > 1", "NOT_A_LIST", "Filter")
    refuses("DISTINCT offset", "NOT_A_LIST", "Distinct")
    refuses("offset LIMIT 1", "NOT_A_LIST", "Limit")
    refuses("offset UNION ALL SELECT 2", "NOT_A_LIST", "Union")
  }

  test("errors of Spark are reported with their message") {
    refuses("ofset", "INVALID_EXPRESSION", "'ofset'", "UNRESOLVED_COLUMN", "`offset`")
    refuses("offset +", "INVALID_EXPRESSION", "PARSE_SYNTAX_ERROR")
    refuses("nofunction(offset)", "INVALID_EXPRESSION", "nofunction")
    refuses("", "INVALID_EXPRESSION")
  }

  test("a list uses the pinned time zone and ANSI mode") {
    def pinned(zone: String, ansi: Boolean) = SessionSettings(
      SessionSettings.current.settings.map {
        case ("spark.sql.session.timeZone", _) => "spark.sql.session.timeZone" -> zone
        case ("spark.sql.ansi.enabled", _)     => "spark.sql.ansi.enabled"     -> ansi.toString
        case other                             => other
      }
    )
    val list = "date_format(timestamp, 'HH:mm') AS at, CAST('2024-01-01 00:00:00' AS TIMESTAMP) AS t, " +
      "from_json(CAST(value AS STRING), 'ts TIMESTAMP').ts AS j"
    def first(zone: String) = {
      val created = plan(list, pinned(zone, ansi = false))
      read(created, created.schema).head
    }
    val day = Timestamp.valueOf("2024-01-01 00:00:00").getTime * 1000
    assert(first("UTC") == s"00:00|$day|$day")
    assert(first("Asia/Tokyo") == s"09:00|${day - 32400000000L}|${day - 32400000000L}")
    assert(spark.conf.get("spark.sql.session.timeZone") == "UTC")

    val number = "CAST(topic AS INT) AS n"
    val lax    = plan(number, pinned("UTC", ansi = false))
    assert(read(lax, lax.schema) == Seq("null", "null"))
    val strict = plan(number, pinned("UTC", ansi = true))
    assert(intercept[Exception](read(strict, strict.schema)).getMessage.contains("CAST_INVALID_INPUT"))
  }

  test("a list uses the pinned settings of casts, of the grammar and of types") {
    Seq(
      ("legacy.castComplexTypesToString.enabled", "CAST(named_struct('n', offset) AS STRING) AS s", "{10}", "[10]"),
      ("legacy.exponentLiteralAsDecimal.enabled", "typeof(1E2) AS s", "double", "decimal(3,0)"),
      ("function.concatBinaryAsString", "typeof(concat(key, value)) AS s", "binary", "string")
    ).foreach { case (key, list, no, yes) =>
      Seq("false" -> no, "true" -> yes).foreach { case (value, expected) =>
        val pinned =
          SessionSettings.current.settings.map(old => if (old._1 == s"spark.sql.$key") old._1 -> value else old)
        val created = plan(list, SessionSettings(pinned))
        assert(read(created, created.schema).head == expected, key)
      }
    }
  }

  test("a list uses the pinned time parser policy, which tasks read") {
    val list                  = "try_to_timestamp(concat('2026-1-1 0:0:', offset - 10), 'yyyy-MM-dd HH:mm:ss') AS t"
    val key                   = "spark.sql.legacy.timeParserPolicy"
    def first(policy: String) = {
      val pinned  = SessionSettings.current.settings.map(old => if (old._1 == key) key -> policy else old)
      val created = plan(list, SessionSettings(pinned))
      read(created, created.schema)
    }
    val day = Timestamp.valueOf("2026-01-01 00:00:00").getTime * 1000
    assert(first("LEGACY") == Seq(day.toString, (day + 1000000).toString))
    assert(first("CORRECTED") == Seq("null", "null"))
  }

  test("a list uses the pinned rules of literals and quoted names") {
    def first(list: String, key: String, value: String) = {
      val pinned  = SessionSettings.current.settings.map(old => if (old._1 == key) key -> value else old)
      val created = plan(list, SessionSettings(pinned))
      read(created, created.schema).head
    }
    val length = "length('\\\\t') AS n"
    assert(first(length, "spark.sql.parser.escapedStringLiterals", "false") == "2")
    assert(first(length, "spark.sql.parser.escapedStringLiterals", "true") == "3")
    val quoted = "\"topic\" AS t"
    assert(first(quoted, "spark.sql.ansi.doubleQuotedIdentifiers", "false") == "topic")
    assert(first(quoted, "spark.sql.ansi.doubleQuotedIdentifiers", "true") != "topic")
  }

  test("the settings of the first start are kept in the side log") {
    val log    = new splice.coordinator.internal.sidelog.MemorySideLog
    val first  = SessionSettings.pinned(log)
    val before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try {
      assert(SessionSettings.pinned(log) == first)
      assert(SessionSettings.current != first)
    } finally spark.conf.set("spark.sql.session.timeZone", before)
  }

  test("compiled lists are Java-serialisable") {
    val created = plan("from_json(CAST(value AS STRING), 'amount DOUBLE') AS o, o.amount AS amount, twice(offset) AS n")
    val select  = created.compile(created.schema, "live")
    val out     = new java.io.ByteArrayOutputStream
    Using.resource(new java.io.ObjectOutputStream(out))(_.writeObject(select))
    assert(out.size > 0)
  }
}
