// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/** Names and types of columns, in the form that a hybrid compares. */
private[splice] object HybridColumns {

  /** The metadata column with the name of a row's leg. */
  val Leg = "_leg"

  /** True if both names denote the same column in this session. */
  def same(a: String, b: String): Boolean = SQLConf.get.resolver(a, b)

  /** The same columns, nullable and without their metadata, because legs may differ in both and a stream has one schema. */
  def nullable(schema: StructType): StructType =
    StructType(schema.toNullable.fields.map(f => StructField(f.name, f.dataType)))
}
