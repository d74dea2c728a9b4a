// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

/** File format that Spark reads. */
sealed abstract private[splice] class FileKind(val name: String, val vectorized: Boolean) extends Product
    with Serializable {

  /** True if the files contain the types of their columns. */
  def hasTypes: Boolean = vectorized
}

private[splice] object FileKind {
  case object Parquet extends FileKind("parquet", vectorized = true)
  case object Orc     extends FileKind("orc", vectorized = true)
  case object Json    extends FileKind("json", vectorized = false)
  case object Csv     extends FileKind("csv", vectorized = false)
  case object Text    extends FileKind("text", vectorized = false)

  val all: Seq[FileKind] = Seq(Parquet, Orc, Json, Csv, Text)
}

/** Order of files across batches. Files within one batch have no order. */
sealed private[splice] trait FileOrder extends Product with Serializable {

  /** True if the files are in the order of the values of a column. */
  def isByTime: Boolean = this match {
    case FileOrder.EventTime(_)                      => true
    case FileOrder.Path | FileOrder.ModificationTime => false
  }
}

private[splice] object FileOrder {

  /** Oldest modification time first, then by path (default). */
  case object ModificationTime extends FileOrder

  /** Lexicographic order of paths. */
  case object Path extends FileOrder

  /** Ascending middle of the least and the greatest value of a column. No other order of whole files needs a smaller
    * delay of a watermark on this column.
    */
  final case class EventTime(column: String) extends FileOrder

  private val OfColumn = "(?i)eventTime:(.+)".r

  def parse(text: String): Option[FileOrder] = text.trim match {
    case OfColumn(column)                                    => Some(column.trim).filter(_.nonEmpty).map(EventTime(_))
    case other if other.equalsIgnoreCase("path")             => Some(Path)
    case other if other.equalsIgnoreCase("modificationTime") => Some(ModificationTime)
    case _                                                   => None
  }
}
