// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/** Comparison of column names and types of legs. */
private[splice] object HybridColumns {

  /** Metadata column with the name of the leg of a row. */
  val Leg = "_leg"

  /** True if both names refer to the same column in this session. */
  def same(a: String, b: String): Boolean = SQLConf.get.resolver(a, b)

  /** Copy of a schema with nullable columns. Legs may differ in nullability, and the schema of a stream never
    * changes.
    */
  def nullable(schema: StructType): StructType =
    StructType(schema.fields.map(f => StructField(f.name, nullable(f.dataType), nullable = true)))

  private def nullable(kind: DataType): DataType = kind match {
    case s: StructType => StructType(s.fields.map(f => f.copy(dataType = nullable(f.dataType), nullable = true)))
    case ArrayType(element, _) => ArrayType(nullable(element), containsNull = true)
    case MapType(k, v, _)      => MapType(nullable(k), nullable(v), valueContainsNull = true)
    case other                 => other
  }
}
