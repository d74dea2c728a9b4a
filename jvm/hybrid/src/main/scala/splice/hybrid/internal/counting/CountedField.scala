// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import splice.hybrid.internal.chain.HybridColumns

/** Column that is counted, or a field of a column of structs.
  *
  * @param column
  *   column to read
  * @param path
  *   ordinals of the fields from the column to the value; empty for a column
  * @param value
  *   type of the values in the leg
  */
final private[splice] case class CountedField(column: StructField, path: Seq[Int], value: DataType) {

  /** True if the values must be computed from the column. */
  def isComputed: Boolean = path.nonEmpty || value.isInstanceOf[DecimalType]

  /** Type of the counted values. */
  def kind: DataType = value match {
    case _: DecimalType => LongType
    case other          => other
  }

  def isText: Boolean = value.isInstanceOf[StringType]

  def isWhole: Boolean = value match {
    case LongType | IntegerType | ShortType | ByteType | (_: DecimalType) => true
    case _                                                                => false
  }

  /** Field of the struct; None if the value is no struct with this field. */
  private def field(name: String): Option[CountedField] = value match {
    case StructType(fields) =>
      Some(fields.indexWhere(field => HybridColumns.same(field.name, name))).filter(_ >= 0).map { i =>
        copy(path = path :+ i, value = fields(i).dataType)
      }
    case _ => None
  }

  /** Value in a row with the column at `ordinal`. A decimal with a fraction, or outside of the range of a long, is null. */
  def of(ordinal: Int): Expression = {
    val root: Expression = BoundReference(ordinal, column.dataType, nullable = true)
    val inner            = path.foldLeft(root)((struct, field) => GetStructField(struct, field))
    value match {
      case decimal: DecimalType =>
        val whole = Cast(inner, LongType, evalMode = EvalMode.TRY)
        If(EqualTo(Cast(whole, decimal, evalMode = EvalMode.TRY), inner), whole, Literal(None.orNull, LongType))
      case _ => inner
    }
  }
}

private[splice] object CountedField {

  /** Finds a column by its name, or a field by the names of its structs, such as `kafka.topic`. A part of a name in
    * backticks may contain dots. The case sensitivity is that of the session.
    */
  def find(columns: Seq[StructField], name: String): Option[CountedField] =
    column(columns, name).orElse {
      val parts =
        try UnresolvedAttribute.parseAttributeName(name)
        catch { case _: AnalysisException => Nil }
      parts.headOption.flatMap { first =>
        parts.tail.foldLeft(column(columns, first))((found, part) => found.flatMap(_.field(part)))
      }
    }

  private def column(columns: Seq[StructField], name: String): Option[CountedField] =
    columns.find(column => HybridColumns.same(column.name, name)).map(column =>
      CountedField(column, Nil, column.dataType)
    )
}
