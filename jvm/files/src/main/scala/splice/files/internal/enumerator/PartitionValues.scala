// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.util.Base64

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.NullNode
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import splice.source.internal.entries.Json

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** JSON format of partition values. The JSON has Spark's internal values, which are independent of time zone and
  * locale.
  */
private[splice] object PartitionValues {

  def write(values: InternalRow, schema: StructType): JsonNode =
    Json.array(schema.zipWithIndex.map { case (field, i) => value(values, i, field.dataType) })

  def read(node: JsonNode, schema: StructType): InternalRow =
    InternalRow.fromSeq(Json.items(node).zip(schema).map { case (item, field) => value(item, field.dataType) })

  private def value(row: InternalRow, i: Int, kind: DataType): JsonNode =
    if (row.isNullAt(i)) NullNode.getInstance
    else
      row.get(i, kind) match {
        case b: Boolean                                  => Json.bool(b)
        case n @ (_: Byte | _: Short | _: Int | _: Long) => Json.number(n.asInstanceOf[Number].longValue)
        case b: Array[Byte]                              => Json.text(Base64.getEncoder.encodeToString(b))
        case other                                       => Json.text(other.toString)
      }

  private def value(item: JsonNode, kind: DataType): Any =
    if (item.isNull) null
    else
      kind match {
        case BooleanType                                       => item.asBoolean
        case ByteType                                          => item.asInt.toByte
        case ShortType                                         => item.asInt.toShort
        case IntegerType | DateType | _: YearMonthIntervalType => item.asInt
        case FloatType                                         => item.asText.toFloat
        case DoubleType                                        => item.asText.toDouble
        case d: DecimalType                                    => Decimal(BigDecimal(item.asText), d.precision, d.scale)
        case BinaryType                                        => Base64.getDecoder.decode(item.asText)
        case _: StringType                                     => UTF8String.fromString(item.asText)
        case _                                                 => item.asLong
      }
}
