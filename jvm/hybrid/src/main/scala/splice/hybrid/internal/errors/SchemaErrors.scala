// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.errors

import org.apache.spark.sql.types.{DataType, StructType}

import splice.hybrid.internal.chain.Leg
import splice.source.errors.SpliceException

/** Errors about legs with different schemas. */
private[hybrid] object SchemaErrors {

  private def conditions = HybridErrors.conditions

  def typeMismatch(leg: Leg, column: String, actual: DataType, expected: DataType): SpliceException =
    conditions.error(
      "SPLICE_SCHEMA.COLUMN_TYPE_MISMATCH",
      "leg"      -> leg.name,
      "column"   -> column,
      "type"     -> actual.sql,
      "expected" -> expected.sql,
      "select"   -> leg.option
    )

  def missing(leg: Leg, column: String, expected: DataType, columns: StructType): SpliceException =
    conditions.error(
      "SPLICE_SCHEMA.COLUMN_NOT_FOUND",
      "leg"     -> leg.name,
      "column"  -> column,
      "type"    -> expected.sql,
      "columns" -> names(columns),
      "select"  -> leg.option
    )

  def extra(leg: Leg, column: String, expected: StructType): SpliceException =
    conditions.error(
      "SPLICE_SCHEMA.EXTRA_COLUMN",
      "leg"     -> leg.name,
      "column"  -> column,
      "columns" -> names(expected),
      "select"  -> leg.option
    )

  def twice(leg: Leg, column: String): SpliceException =
    conditions.error("SPLICE_SCHEMA.DUPLICATE_COLUMN", "leg" -> leg.name, "column" -> column, "select" -> leg.option)

  def reserved(leg: Leg, column: String): SpliceException =
    conditions.error("SPLICE_SCHEMA.RESERVED_COLUMN", "leg" -> leg.name, "column" -> column, "select" -> leg.option)

  private def names(schema: StructType): String = schema.fieldNames.mkString(", ")
}
