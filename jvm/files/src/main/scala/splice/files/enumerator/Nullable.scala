// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import org.apache.spark.sql.types._

/** Conversion of a schema to nullable columns. Files may contain nulls even if a schema excludes them. */
private[files] object Nullable {

  def apply(schema: StructType): StructType =
    StructType(schema.map(f => f.copy(dataType = nullable(f.dataType), nullable = true)))

  private def nullable(kind: DataType): DataType = kind match {
    case s: StructType => apply(s)
    case a: ArrayType  => ArrayType(nullable(a.elementType), containsNull = true)
    case m: MapType    => MapType(nullable(m.keyType), nullable(m.valueType), valueContainsNull = true)
    case other         => other
  }
}
