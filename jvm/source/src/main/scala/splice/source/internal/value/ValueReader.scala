// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.value

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, MutableProjection, SpecificInternalRow}
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import splice.source.internal.rows.RowView
import splice.source.internal.{ForwardingReader, PinnedReader}
import splice.source.{Poll, SplitReader}

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Returns the rows of records with parsed values. Used by one thread. The row is reused. */
final private[splice] class ValueReader private (records: SplitReader[InternalRow], plan: ValuePlan)
    extends ForwardingReader[InternalRow, InternalRow](records) {

  import ValueReader._

  private val row    = new ValueRow(plan.places.toArray, plan.types.toArray)
  private val parse  = parser(plan)
  private val id     = plan.log.id.indices.map(i => (i + 1) -> plan.record(i + 1).dataType)
  private var errors = 0L

  override def poll(patience: Duration): Poll = {
    val result = records.poll(patience)
    if (result eq Poll.Found) show(records.get())
    result
  }

  override def get(): InternalRow = row

  override def metrics: Array[CustomTaskMetric] =
    records.metrics :+ plan.log.parseErrors(() => errors)

  private def show(record: InternalRow): Unit = {
    val bytes = if (record.isNullAt(Bytes)) Array.emptyByteArray else record.getBinary(Bytes)
    if (isNull(bytes)) row.show(record, null, null)
    else
      try {
        val value = parse(bytes)
        if (TrailingText.follows(bytes)) throw new IllegalArgumentException("text follows the first JSON object")
        row.show(record, value, null)
      } catch {
        case e: SparkThrowable if isUndecided(e) => throw failure(record, e.asInstanceOf[Throwable])
        case NonFatal(e)                         =>
          errors += 1
          plan.settings.onError match {
            case OnParseError.Fail    => throw failure(record, e)
            case OnParseError.Null    => row.show(record, null, null)
            case OnParseError.Corrupt => row.show(record, null, corrupt(record))
          }
      }
  }

  // A value without text is a null value. A sink may write a deletion as the JSON value null.
  private def isNull(bytes: Array[Byte]): Boolean = {
    val from = bytes.indexWhere(byte => byte < 0 || byte > ' ')
    from < 0 ||
    bytes.startsWith(Null, from) && bytes.indexWhere(byte => byte < 0 || byte > ' ', from + Null.length) < 0
  }

  private def failure(record: InternalRow, cause: Throwable): Throwable =
    plan.log.invalid(id.map { case (column, kind) => record.get(column, kind) }, plan.settings, cause)

  private def corrupt(record: InternalRow): InternalRow = {
    val values = id.map { case (column, kind) => record.get(column, kind) }
    new GenericInternalRow((values :+ record.getBinary(Bytes)).toArray[Any])
  }
}

private[splice] object ValueReader {

  /** Returns a reader whose values have the settings of the first start. */
  def apply(records: SplitReader[InternalRow], plan: ValuePlan): SplitReader[InternalRow] =
    PinnedReader(plan.session)(new ValueReader(records, plan))

  private val Null = "null".getBytes(UTF_8)

  // The index of the value in the records of a plan. The columns that identify a record follow.
  final private val Bytes = 0

  /** True if Spark requires a setting for dates of the old calendar. The value is valid in this case. */
  private def isUndecided(e: SparkThrowable): Boolean =
    Option(e.getCondition).exists(_.startsWith("INCONSISTENT_BEHAVIOR_CROSS_VERSION"))

  /** Returns a function that evaluates the expression. The result may be one reused row. */
  private def parser(plan: ValuePlan): Array[Byte] => Any = {
    val kind       = plan.parser.dataType
    val input      = new GenericInternalRow(1)
    val projection = MutableProjection.create(Seq(plan.parser)).target(new SpecificInternalRow(Seq(kind)))
    bytes => {
      input.update(0, bytes)
      projection(input).get(0, kind)
    }
  }
}

/** A row of a record with its parsed value.
  *
  * @param places
  *   the index of each column, as in [[ValuePlan]]
  */
final private[splice] class ValueRow(places: Array[Int], types: Array[DataType]) extends RowView(places.length) {

  // Uninitialised until `show`, since no caller reads a row earlier.
  private var record: InternalRow = _
  private var value: Any          = _
  private var corrupt: Any        = _

  /** Shows another record. `parsed` is its value. If the value cannot be parsed, `poison` describes the record. */
  def show(next: InternalRow, parsed: Any, poison: Any): Unit = {
    record = next
    value = parsed
    corrupt = poison
  }

  override def isNullAt(ordinal: Int): Boolean = places(ordinal) match {
    case ValuePlan.Value   => value == null
    case ValuePlan.Corrupt => corrupt == null
    case place             => record.isNullAt(place)
  }

  override def getInt(ordinal: Int): Int = record.getInt(places(ordinal))

  override def getLong(ordinal: Int): Long = record.getLong(places(ordinal))

  override def getBinary(ordinal: Int): Array[Byte] = record.getBinary(places(ordinal))

  override protected def genericGet(ordinal: Int): Any = places(ordinal) match {
    case ValuePlan.Value   => value
    case ValuePlan.Corrupt => corrupt
    case place             => if (record.isNullAt(place)) null else record.get(place, types(ordinal))
  }

  override def getUTF8String(ordinal: Int): UTF8String = genericGet(ordinal).asInstanceOf[UTF8String]
}
