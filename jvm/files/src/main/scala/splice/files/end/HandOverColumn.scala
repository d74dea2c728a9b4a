// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import java.util.Locale

import org.apache.spark.sql.types._

import splice.files.FilesErrors
import splice.files.reader.FileMetadata
import splice.files.split.FileSchemas

/** A column of the files that a hand-over reads, found whatever its case.
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
      .find(_.name.toLowerCase(Locale.ROOT) == name.toLowerCase(Locale.ROOT))
      .getOrElse(throw FilesErrors.columnNotFound(name, role, paths, columns.map(_.name)))
    if (!fits.isDefinedAt(found.dataType)) throw FilesErrors.columnType(name, role, paths, found.dataType.sql, expected)
    HandOverColumn(role, found)
  }
}
