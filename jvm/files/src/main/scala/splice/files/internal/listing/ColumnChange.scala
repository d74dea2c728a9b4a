// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import org.apache.spark.sql.types._

import splice.files.internal.options.FileKind
import splice.files.internal.session.ColumnNames
import splice.files.internal.split.FileSchemas
import splice.source.internal.rows.PlainType

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
    * because readers return null for this column. A wider number is not a change if the files have types.
    */
  def ofTypes(columns: StructType, listed: FileSchemas, kind: FileKind): Option[ColumnChange] =
    differentType(columns, listed.rows, kind)

  /** First column of a given schema that differs from the list in name, type or position. The position is relevant
    * for CSV.
    */
  def ofGiven(schema: StructType, listed: FileSchemas, kind: FileKind): Option[ColumnChange] = {
    val folders   = listed.partition.map(key).toSet
    val data      = schema.filterNot(field => folders(key(field)))
    val (is, was) = (data.map(key), listed.data.map(key).filterNot(folders))
    differentType(schema, listed.rows, kind)
      .orElse(data.find(f => !was.contains(key(f))).map(f => ColumnChange(f.name, Absent, f.dataType.sql)))
      .orElse(listed.data.find(f => !folders(key(f)) && !is.contains(key(f))).map { f =>
        ColumnChange(f.name, f.dataType.sql, Absent)
      })
      .orElse(is.indices.find(i => is(i) != was(i)).map { i =>
        ColumnChange(data(i).name, s"column ${was.indexOf(is(i)) + 1}", s"column ${i + 1}")
      })
  }

  private def differentType(columns: StructType, listed: StructType, kind: FileKind): Option[ColumnChange] = {
    val before                                = listed.map(field => key(field) -> field.dataType).toMap
    def differs(was: DataType, now: DataType) =
      PlainType.of(was) != PlainType.of(now) && !(kind.hasTypes && isWider(was, now))
    columns.collectFirst {
      case field if before.get(key(field)).exists(differs(_, field.dataType)) =>
        ColumnChange(field.name, before(key(field)).sql, field.dataType.sql)
    }
  }

  // The readers of formats with types convert such values exactly, so a batch that is read again has the same values.
  private def isWider(was: DataType, now: DataType): Boolean = (was, now) match {
    case (ByteType, ShortType | IntegerType | LongType | DoubleType) => true
    case (ShortType, IntegerType | LongType | DoubleType)            => true
    case (IntegerType, LongType | DoubleType)                        => true
    case (FloatType, DoubleType)                                     => true
    case (a: DecimalType, b: DecimalType) => b.scale >= a.scale && b.precision - b.scale >= a.precision - a.scale
    case _                                => false
  }

  private def key(field: StructField): String = ColumnNames.key(field.name)
}
