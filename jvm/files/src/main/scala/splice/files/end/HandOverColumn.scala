// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import org.apache.spark.sql.types._

import splice.files.reader.FileMetadata
import splice.files.split.FileSchemas
import splice.files.{ColumnNames, FilesErrors}

/** A column of the files that a hand-over reads, found by the case rule of the session.
  *
  * @param role
  *   what the hand-over takes it for, as errors say it
  */
final private[files] case class HandOverColumn(role: String, field: StructField)

private[files] object HandOverColumn {

  /** @throws splice.source.SpliceException when there is no such column, or it is of another type */
  def apply(name: String, role: String, expected: String, schemas: FileSchemas, paths: Seq[String])(
      fits: PartialFunction[DataType, Unit]
  ): HandOverColumn = {
    val columns = schemas.rows.fields.toSeq
    val found   = (columns ++ FileMetadata.schema.fields)
      .find(column => ColumnNames.key(column.name) == ColumnNames.key(name))
      .getOrElse(throw FilesErrors.columnNotFound(name, role, paths, columns.map(_.name)))
    if (!fits.isDefinedAt(found.dataType)) throw FilesErrors.columnType(name, role, paths, found.dataType.sql, expected)
    HandOverColumn(role, found)
  }
}
