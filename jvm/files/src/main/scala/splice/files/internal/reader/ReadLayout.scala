// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.files.internal.options.FileKind
import splice.files.internal.session.ColumnNames
import splice.files.internal.split.{FileBlock, FileSchemas}
import splice.source.internal.rows.PlainType

/** Mapping of the requested columns to the output of Spark's readers. Spark's readers return columns of the file
  * first, then constants.
  *
  * @param file
  *   columns to read from files
  * @param data
  *   all columns that files may have
  * @param constants
  *   columns with one value per block
  * @param order
  *   position of each requested column in the output of Spark's reader
  */
final private[files] class ReadLayout(
    val wanted: StructType,
    val data: StructType,
    val file: StructType,
    constantFields: Seq[(StructField, Constant)],
    val order: IndexedSeq[Int]
) extends Serializable {

  val constants: StructType = StructType(constantFields.map(_._1))

  /** Output schema of Spark's reader. */
  def returned: StructType = StructType(file ++ constants)

  def inOrder: Boolean = order == order.indices

  /** Constants of a block, in Spark's internal format. */
  def values(block: FileBlock): InternalRow = InternalRow.fromSeq(constantFields.map {
    case (_, Constant.OfFile(column))       => column.of(block)
    case (field, Constant.OfFolder(number)) => block.values.get(number, field.dataType)
    case (_, Constant.Missing)              => None.orNull
  })
}

/** Origin of a constant. */
sealed private[files] trait Constant extends Product with Serializable

private[files] object Constant {
  final case class OfFile(column: FileMetadata) extends Constant
  final case class OfFolder(number: Int)        extends Constant

  /** Null, for a column that no listed file has. */
  case object Missing extends Constant
}

private[files] object ReadLayout {

  def apply(wanted: StructType, schemas: FileSchemas, kind: FileKind): ReadLayout = {
    val folders = schemas.partition.map(f => fold(f)).zipWithIndex.toMap
    val types   = wanted.map(f => fold(f) -> f.dataType).toMap
    // A restart may have wider types than the list.
    val data = schemas.data.map { f =>
      types.get(fold(f)).filter(PlainType.of(_) != PlainType.of(f.dataType)).fold(f)(wide => f.copy(dataType = wide))
    }
    val listed = data.map(f => fold(f) -> f).toMap
    // As in Spark, a column of the file hides a metadata column of the same name.
    def constant(field: StructField): Option[Constant] =
      folders.get(fold(field)).map(Constant.OfFolder).orElse {
        if (listed.contains(fold(field))) None
        else
          FileMetadata.named(field.name).map(Constant.OfFile)
            // CSV columns are matched by position, so a line without the additional column would be malformed.
            .orElse(Option.when(kind == FileKind.Csv)(Constant.Missing))
      }
    val (constants, file) = wanted.partitionMap(field => constant(field).map(field -> _).toLeft(field))
    val place             = (file ++ constants.map(_._1)).map(fold).zipWithIndex.toMap
    // Listed files lack columns that were inferred after the listing.
    val later = file.filterNot(f => listed.contains(fold(f)))
    new ReadLayout(
      wanted,
      StructType(data ++ later),
      // Spark's readers compare names and metadata exactly, and a query or a restart may spell a column differently.
      StructType(file.map(f => listed.getOrElse(fold(f), f))),
      constants,
      wanted.map(f => place(fold(f))).toIndexedSeq
    )
  }

  private def fold(field: StructField): String = ColumnNames.key(field.name)
}

/** Reorders the columns of batches without copying values. Not thread-safe. */
final private[files] class ColumnArranger(layout: ReadLayout) {

  // Spark's readers reuse one batch object, so one reordered view suffices.
  private var last: Option[(ColumnarBatch, ColumnarBatch)] = None

  def apply(batch: ColumnarBatch): ColumnarBatch =
    if (layout.inOrder) batch
    else {
      val view = last.collect { case (`batch`, arranged) => arranged }.getOrElse {
        val arranged = new ColumnarBatch(layout.order.map(batch.column).toArray)
        last = Some(batch -> arranged)
        arranged
      }
      view.setNumRows(batch.numRows)
      view
    }
}
