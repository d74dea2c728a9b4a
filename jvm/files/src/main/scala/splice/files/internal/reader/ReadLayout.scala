// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{StructField, StructType}

import splice.files.internal.session.ColumnNames
import splice.files.internal.split.{FileBlock, FileSchemas}

/** How wanted columns come out of Spark's readers, which put columns of the file first and constants of the file behind.
  *
  * @param file
  *   the columns to read from files
  * @param data
  *   all columns that files may have
  * @param constants
  *   the columns that have one value for a block
  * @param order
  *   for each wanted column, its place in what Spark's reader returns
  */
final private[files] class ReadLayout(
    val wanted: StructType,
    val data: StructType,
    val file: StructType,
    constantFields: Seq[(StructField, Constant)],
    val order: IndexedSeq[Int]
) extends Serializable {

  val constants: StructType = StructType(constantFields.map(_._1))

  /** What Spark's reader returns. */
  def returned: StructType = StructType(file ++ constants)

  def inOrder: Boolean = order == order.indices

  /** The constants of a block, in Spark's internal form. */
  def values(block: FileBlock): InternalRow = InternalRow.fromSeq(constantFields.map {
    case (_, Constant.OfFile(column))       => column.of(block)
    case (field, Constant.OfFolder(number)) => block.values.get(number, field.dataType)
  })
}

/** Where a constant comes from. */
sealed private[files] trait Constant extends Product with Serializable

private[files] object Constant {
  final case class OfFile(column: FileMetadata) extends Constant
  final case class OfFolder(number: Int)        extends Constant
}

private[files] object ReadLayout {

  def apply(wanted: StructType, schemas: FileSchemas): ReadLayout = {
    val folders = schemas.partition.map(f => fold(f)).zipWithIndex.toMap
    val inFiles = schemas.data.map(fold).toSet
    // A file's own column hides a metadata column of the same name, as in Spark.
    def constant(field: StructField): Option[Constant] =
      folders.get(fold(field)).map(Constant.OfFolder).orElse {
        FileMetadata.named(field.name).filterNot(_ => inFiles(fold(field))).map(Constant.OfFile)
      }
    val (constants, file) = wanted.partitionMap(field => constant(field).map(field -> _).toLeft(field))
    val place             = (file ++ constants.map(_._1)).map(fold).zipWithIndex.toMap
    // A column that was found out after the files had been listed is in none of them.
    val later = file.filterNot(f => inFiles(fold(f)))
    new ReadLayout(
      wanted,
      StructType(schemas.data ++ later),
      StructType(file),
      constants,
      wanted.map(f => place(fold(f))).toIndexedSeq
    )
  }

  private def fold(field: StructField): String = ColumnNames.key(field.name)
}
