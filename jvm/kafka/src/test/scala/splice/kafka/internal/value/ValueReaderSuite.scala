// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.value

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.time.Duration

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{Encoders, Row, SparkSession}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.KafkaSource
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.reader.KafkaReaders
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.value.{ValuePlan, ValueReader, ValueSettings}
import splice.source.options.SourceOptions
import splice.source.runtime.SessionSettings
import splice.source.{EnumeratorContext, Poll, ReadMode, SourceProvider, SplitReader}

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Tests of parsed values with given records. */
final class ValueReaderSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val spark = SparkSession.builder().master("local[1]").config("spark.ui.enabled", "false").getOrCreate()

  override protected def beforeAll(): Unit = { val _ = spark }
  override protected def afterAll(): Unit  = spark.stop()

  private val json =
    Seq("valueFormat" -> "json", "valueSchema" -> "id BIGINT NOT NULL, at TIMESTAMP, in STRUCT<a: INT>")

  private def settings(options: (String, String)*): ValueSettings =
    ValueSettings(SourceOptions(options.toMap))(KafkaErrors.rejectedOption)

  /** Records of topic t, partition 2, from offset 7. */
  final private class Records(values: Seq[Array[Byte]], columns: StructType) extends SplitReader[InternalRow] {
    private var at = -1

    override def poll(patience: Duration): Poll = {
      at += 1
      if (at < values.size) Poll.Found else Poll.Ended
    }

    override def close(): Unit      = ()
    override def get(): InternalRow = new GenericInternalRow(columns.fieldNames.map[Any] {
      case KafkaSchema.Value     => values(at)
      case KafkaSchema.Key       => s"k$at".getBytes(UTF_8)
      case KafkaSchema.Topic     => UTF8String.fromString("t")
      case KafkaSchema.Partition => 2
      case KafkaSchema.Offset    => 7L + at
      case KafkaSchema.Timestamp => 1000000L
      case _                     => 0
    })
  }

  private def read(options: Seq[(String, String)], values: Seq[String], pinned: Option[SessionSettings] = None)(
      columns: StructType
  ): Seq[Row] = readBytes(options, values.map(Option(_).map(_.getBytes(UTF_8)).orNull), pinned)(columns)

  private def readBytes(options: Seq[(String, String)], values: Seq[Array[Byte]], pinned: Option[SessionSettings])(
      columns: StructType
  ): Seq[Row] = {
    val plan   = ValuePlan(settings(options: _*), KafkaLog, columns, pinned.getOrElse(SessionSettings.current)).get
    val copy   = UnsafeProjection.create(columns)
    val toRows = Encoders.row(columns).asInstanceOf[org.apache.spark.sql.catalyst.encoders.AgnosticEncoder[Row]]
    val scala  = org.apache.spark.sql.catalyst.encoders.ExpressionEncoder(toRows).resolveAndBind().createDeserializer()
    Using.resource(ValueReader(new Records(values, plan.record), plan)) { reader =>
      SplitReader.items(reader).map(row => scala(copy(row).copy())).toVector
    }
  }

  private def select(all: StructType, names: String*): StructType = StructType(names.map(all(_)))

  private def values(options: Seq[(String, String)], texts: String*): Seq[Any] =
    read(options, texts)(select(KafkaSchema(includeHeaders = false, settings(options: _*)), "value")).map(_.get(0))

  test("json is parsed to a struct whose fields may be missing") {
    val texts = Seq("""{"id":1,"in":{"a":2},"more":[]}""", null, "{}")
    assert(values(json, texts: _*) == Seq(Row(1L, null, Row(2)), null, Row(null, null, null)))
  }

  test("json is parsed with the options of from_json") {
    val dated = Seq("valueFormat" -> "json", "valueSchema" -> "d DATE", "value.dateFormat" -> "dd.MM.yyyy")
    assert(values(dated, """{"d":"02.01.2026"}""").map(_.toString) == Seq("[2026-01-02]"))
  }

  test("empty text, white space and the JSON value null are null") {
    val options = Seq("valueFormat" -> "json", "valueSchema" -> "a INT, b STRING")
    assert(values(options, "", " \n", "null", " null\n") == Seq(null, null, null, null))
    Seq("nul", "nulls", "null null", "Null").foreach(text => intercept[SpliceException](values(options, text)))
  }

  test("the table of JSON values in docs/kafka.md") {
    val options = Seq("valueFormat" -> "json", "valueSchema" -> "id INT, name STRING")
    val page    = Files.readAllLines(Paths.get("docs/kafka.md")).asScala.map(_.trim)
    val table   = page.dropWhile(!_.startsWith("| JSON value |")).drop(2).takeWhile(_.startsWith("|"))
    val found   = table.map { line =>
      val text    = line.split('|')(1).trim.stripPrefix("`").stripSuffix("`")
      def own     = values(options, text).map(show).head
      val fails   = Try(own).fold(_ => "error", identity)
      val kept    = values(options :+ ("onParseError" -> "null"), text).map(show).head
      val session = spark
      import session.implicits._
      val ofSpark = Seq(text).toDF("v").selectExpr("from_json(v, 'id INT, name STRING') AS r").head().get(0)
      s"| `$text` | $fails | $kept | ${show(ofSpark)} |"
    }
    assert(table.size == 9 && found == table, found.mkString("\n", "\n", "\n"))
  }

  private def show(value: Any): String = value match {
    case null     => "null"
    case row: Row => row.toSeq.map(field => Option(field).fold("null")(_.toString)).mkString("(", ", ", ")")
    case other    => other.toString
  }

  test("text after the first object is a parse error") {
    val options = Seq("valueFormat" -> "json", "valueSchema" -> "a INT, b STRING")
    Seq("""{"a":1}{"a":2}""", "{\"a\":1}\n{\"a\":2}", """{"a":1} x""", """{"a":1}}""").foreach { text =>
      assert(intercept[SpliceException](values(options, text)).getMessage.contains("t-2 at offset 7"), text)
      assert(values(options :+ ("onParseError" -> "corrupt"), text) == Seq(null), text)
    }
    val one = Row(1, null)
    assert(values(options, "{\"a\":1}\u0000") == Seq(one))
    assert(values(options, "{\"a\":1} \r\n", " {\"a\":1}", """{"a":1,"c":[{"d":"}{"}]}""") == Seq(one, one, one))
    assert(values(options :+ ("value.allowComments" -> "true"), """{"a":1} /* } */""") == Seq(one))
  }

  test("bytes that are not UTF-8 are replaced") {
    val bytes  = "{\"a\":1,\"b\":\"x".getBytes(UTF_8) ++ Array(0xe4.toByte, 'y'.toByte) ++ "\"}".getBytes(UTF_8)
    val broken = Seq("valueFormat" -> "json", "valueSchema" -> "a INT, b STRING")
    val column = select(KafkaSchema(includeHeaders = false, settings(broken: _*)), "value")
    val row    = readBytes(broken, Seq(bytes), None)(column).head
    assert(row.getStruct(0) == Row(1, "x\uFFFDy"))
  }

  test("the other columns are unchanged, in any order") {
    val all  = KafkaSchema(includeHeaders = false, settings(json: _*))
    val rows =
      read(json, Seq("""{"id":1}""", """{"id":2}"""))(select(all, "offset", "value", "key", "partition", "topic"))
    assert(rows.map(r => (r.getLong(0), r.getStruct(1).getLong(0), r.getInt(3), r.getString(4))) ==
      Seq((7L, 1L, 2, "t"), (8L, 2L, 2, "t")))
    assert(rows.map(r => new String(r.getAs[Array[Byte]](2), UTF_8)) == Seq("k0", "k1"))
  }

  private val poison = Seq("""{"id":1}""", """{"id":"x"}""", "{broken", """{"id":4}""")

  test("fail is an error with topic, partition and offset") {
    val error = intercept[SpliceException](values(json, poison: _*))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.INVALID_VALUE")
    assert(error.getMessage.contains("The value of t-2 at offset 8 does not match the json"))
  }

  test("null continues with a null value") {
    assert(values(json :+ ("onParseError" -> "null"), poison: _*) ==
      Seq(Row(1L, null, null), null, null, Row(4L, null, null)))
  }

  test("corrupt keeps the record, with or without the column value") {
    val options = json :+ ("onParseError" -> "corrupt")
    val all     = KafkaSchema(includeHeaders = false, settings(options: _*))
    assert(all("_corrupt").dataType == KafkaLog.corrupt)
    Seq(all, select(all, "_corrupt")).foreach { columns =>
      val kept = read(options, poison)(columns).map(r => Option(r.getAs[Row]("_corrupt")))
      assert(kept.map(_.map(c =>
        (c.getString(0), c.getInt(1), c.getLong(2), new String(c.getAs[Array[Byte]](3), UTF_8))
      )) ==
        Seq(None, Some(("t", 2, 8L, poison(1))), Some(("t", 2, 9L, poison(2))), None))
    }
  }

  test("bytes, text and unread columns need no parser") {
    val all = KafkaSchema(includeHeaders = false, settings(json: _*))
    assert(ValuePlan(settings(json: _*), KafkaLog, select(all, "offset", "key"), SessionSettings.current).isEmpty)
    Seq(settings(), settings("valueFormat" -> "string")).foreach { own =>
      assert(ValuePlan(own, KafkaLog, KafkaSchema(includeHeaders = true, own), SessionSettings.current).isEmpty)
    }
  }

  test("only columns that need a parser are read as rows") {
    def columnar(options: (String, String)*)(names: String*): Boolean = {
      val of      = Map("kafka.bootstrap.servers" -> "127.0.0.1:1", "subscribe" -> "t") ++ options
      val own     = KafkaSettings(SourceOptions(of))
      val columns = select(KafkaSchema(includeHeaders = true, own.value), names: _*)
      val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, java.time.Clock.systemUTC(), 1, "columnar")
      KafkaReaders(own, columns, context, "columnar", Nil, new RecordSizes).columnar
    }
    val headed = "includeHeaders" -> "true"
    assert(columnar(headed)("value", "headers") && columnar("valueFormat" -> "string", headed)("value", "headers"))
    assert(columnar(json: _*)("key", "offset") && !columnar(json: _*)("value"))
  }

  /** The settings of a first start that had another value. */
  private def first(key: String, value: String): SessionSettings =
    SessionSettings(SessionSettings.current.settings.map {
      case (`key`, _) => key -> value
      case other      => other
    })

  private def time(pinned: SessionSettings, text: String, options: (String, String)*): String = {
    val all = select(KafkaSchema(includeHeaders = false, settings(json: _*)), "value")
    val row = read(json ++ options, Seq(s"""{"at":"$text"}"""), Some(pinned))(all).head
    row.getStruct(0).getTimestamp(1).toInstant.toString
  }

  test("the time zone of the first start is used") {
    assert(time(first("spark.sql.session.timeZone", "Asia/Tokyo"), "2026-01-01 09:00:00") == "2026-01-01T00:00:00Z")
  }

  test("the time parser policy of the first start, which tasks read for each value, is used") {
    val format = "value.timestampFormat" -> "yyyy-MM-dd HH:mm:ss"
    val legacy = first("spark.sql.legacy.timeParserPolicy", "LEGACY")
    val zoned  = SessionSettings(legacy.settings.map {
      case (key @ "spark.sql.session.timeZone", _) => key -> "UTC"
      case other                                   => other
    })
    assert(time(zoned, "2026-1-1 0:0:0", format) == "2026-01-01T00:00:00Z")
    assertThrows[SpliceException](time(SessionSettings.current, "2026-1-1 0:0:0", format))
  }

  test("the rules of the first start for empty text of a JSON object are used") {
    val options                = Seq("valueFormat" -> "json", "valueSchema" -> "a INT")
    val column                 = select(KafkaSchema(includeHeaders = false, settings(options: _*)), "value")
    def empty(allowed: String) = {
      val pinned = first("spark.sql.legacy.json.allowEmptyString.enabled", allowed)
      read(options, Seq("""{"a":""}"""), Some(pinned))(column).head
    }
    assert(empty("true") == Row(Row(null)))
    assertThrows[SpliceException](empty("false"))
  }

  test("the columns of the source have the value type") {
    val options = json ++ Seq("kafka.bootstrap.servers" -> "b:1", "subscribe" -> "t", "onParseError" -> "corrupt")
    val source  = SourceProvider.create(SourceOptions(options.toMap + ("source" -> KafkaSource.Kind)))
    assert(source.schema.fieldNames.toSeq.endsWith(Seq("timestampType", "_corrupt")))
    assert(source.schema("value").dataType == StructType.fromDDL("id BIGINT, at TIMESTAMP, in STRUCT<a: INT>"))
  }

  private def refused(options: (String, String)*): String =
    intercept[SpliceOptionException](settings(options: _*)).getMessage

  test("invalid options are rejected") {
    assert(refused("valueFormat" -> "avro").contains("raw, string, json"))
    assert(refused("valueFormat" -> "json").contains("'valueSchema'"))
    assert(refused("valueFormat" -> "json", "valueSchema" -> "a INTT").contains("'a INTT'"))
    assert(refused("valueSchema" -> "a INT").contains("valueSchema, valueFormat"))
    assert(refused("onParseError" -> "null", "valueFormat" -> "string").contains("onParseError, valueFormat"))
    assert(refused("value.sep" -> ";").contains("value.sep, valueFormat"))
    assert(refused(json :+ ("value.mode" -> "PERMISSIVE"): _*).contains("'onParseError' defines"))
    assert(refused(json :+ ("onParseError" -> "skip"): _*).contains("fail, null, corrupt"))
  }

  test("errors of Spark are raised when the schema is requested") {
    val wrong = settings("valueFormat" -> "json", "valueSchema" -> "a MAP<INT, STRING>")
    assert(intercept[SpliceOptionException](ValuePlan.check(wrong)).getMessage.contains("from_json"))
  }
}
