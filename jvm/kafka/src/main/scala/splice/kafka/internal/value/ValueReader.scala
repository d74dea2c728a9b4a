// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.value

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, MutableProjection, SpecificInternalRow}
import org.apache.spark.sql.connector.metric.CustomTaskMetric

import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.metrics.KafkaMetrics
import splice.source.internal.{ForwardingReader, PinnedReader}
import splice.source.{Poll, SplitReader}

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Returns the rows of records with parsed values. Used by one thread. The row is reused. */
final private[splice] class ValueReader private (records: SplitReader[InternalRow], plan: ValuePlan)
    extends ForwardingReader[InternalRow, InternalRow](records) {

  import ValueReader._

  private val row    = new ValueRow(plan.places.toArray, plan.types.toArray)
  private val parse  = parser(plan)
  private var errors = 0L

  override def poll(patience: Duration): Poll = {
    val result = records.poll(patience)
    if (result eq Poll.Found) show(records.get())
    result
  }

  override def get(): InternalRow = row

  override def metrics: Array[CustomTaskMetric] =
    records.metrics :+ new KafkaMetrics.Live(KafkaMetrics.ParseErrors, () => errors)

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

  private def failure(record: InternalRow, cause: Throwable): Throwable = KafkaErrors.unparsable(
    plan.settings.format.name,
    record.getUTF8String(Topic).toString,
    record.getInt(Partition),
    record.getLong(Offset),
    plan.settings.fields.toDDL,
    cause
  )

  private def corrupt(record: InternalRow): InternalRow = new GenericInternalRow(
    Array[Any](record.getUTF8String(Topic), record.getInt(Partition), record.getLong(Offset), record.getBinary(Bytes))
  )
}

private[splice] object ValueReader {

  /** Returns a reader whose values have the settings of the first start. */
  def apply(records: SplitReader[InternalRow], plan: ValuePlan): SplitReader[InternalRow] =
    PinnedReader(plan.session)(new ValueReader(records, plan))

  private val Null = "null".getBytes(UTF_8)

  // The indexes of these columns in the records of a plan.
  final private val Bytes     = 0
  final private val Topic     = 1
  final private val Partition = 2
  final private val Offset    = 3

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
