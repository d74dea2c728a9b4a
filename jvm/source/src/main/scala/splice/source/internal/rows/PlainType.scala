// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.rows

import org.apache.spark.sql.types._

/** Types without properties that do not affect values: comments and other metadata of fields, and nullability. Splice
  * compares only such types.
  */
private[splice] object PlainType {

  /** The same type, with nullable fields, elements and values, and without metadata at any depth. */
  def of(kind: DataType): DataType = kind match {
    case fields: StructType     => of(fields)
    case ArrayType(element, _)  => ArrayType(of(element))
    case MapType(key, value, _) => MapType(of(key), of(value))
    case other                  => other
  }

  /** The same columns, nullable and without metadata. */
  def of(columns: StructType): StructType = StructType(columns.fields.map(f => StructField(f.name, of(f.dataType))))
}
