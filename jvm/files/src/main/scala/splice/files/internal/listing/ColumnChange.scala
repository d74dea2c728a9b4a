// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import org.apache.spark.sql.types.{StructField, StructType}

import splice.files.internal.session.ColumnNames
import splice.files.internal.split.FileSchemas

/** Column that differs from the list.
  *
  * @param before
  *   description of the column in the list, for errors
  * @param now
  *   description of the column of this start
  */
final private[files] case class ColumnChange(name: String, before: String, now: String)

private[files] object ColumnChange {

  private val Absent = "not a column"

  /** First column of a query that has another type in the list. A column that is missing from the list is not a change,
    * because readers return null for this column.
    */
  def ofTypes(columns: StructType, listed: FileSchemas): Option[ColumnChange] = differentType(columns, listed.rows)

  /** First column of a given schema that differs from the list in name, type or position. The position is relevant
    * for CSV.
    */
  def ofGiven(schema: StructType, listed: FileSchemas): Option[ColumnChange] = {
    val columns   = schema.toNullable
    val folders   = listed.partition.map(key).toSet
    val data      = columns.filterNot(field => folders(key(field)))
    val (is, was) = (data.map(key), listed.data.map(key).filterNot(folders))
    differentType(columns, listed.rows)
      .orElse(data.find(f => !was.contains(key(f))).map(f => ColumnChange(f.name, Absent, f.dataType.sql)))
      .orElse(listed.data.find(f => !folders(key(f)) && !is.contains(key(f))).map { f =>
        ColumnChange(f.name, f.dataType.sql, Absent)
      })
      .orElse(is.indices.find(i => is(i) != was(i)).map { i =>
        ColumnChange(data(i).name, s"column ${was.indexOf(is(i)) + 1}", s"column ${i + 1}")
      })
  }

  private def differentType(columns: StructType, listed: StructType): Option[ColumnChange] = {
    val before = listed.map(field => key(field) -> field.dataType).toMap
    columns.toNullable.collectFirst {
      case field if before.get(key(field)).exists(_ != field.dataType) =>
        ColumnChange(field.name, before(key(field)).sql, field.dataType.sql)
    }
  }

  private def key(field: StructField): String = ColumnNames.key(field.name)
}
