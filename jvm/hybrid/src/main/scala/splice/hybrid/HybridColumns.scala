// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/** Names and types of columns, as a hybrid compares them. */
private[splice] object HybridColumns {

  /** The metadata column with the name of a row's leg. */
  val Leg = "_leg"

  /** Whether two names are one column's in this session. */
  def same(a: String, b: String): Boolean = SQLConf.get.resolver(a, b)

  /** The same columns, each of which may be null: legs may differ in that, and a stream's schema is fixed for its whole life. */
  def nullable(schema: StructType): StructType =
    StructType(schema.fields.map(f => StructField(f.name, nullable(f.dataType), nullable = true)))

  private def nullable(kind: DataType): DataType = kind match {
    case s: StructType => StructType(s.fields.map(f => f.copy(dataType = nullable(f.dataType), nullable = true)))
    case ArrayType(element, _) => ArrayType(nullable(element), containsNull = true)
    case MapType(k, v, _)      => MapType(nullable(k), nullable(v), valueContainsNull = true)
    case other                 => other
  }
}
