// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

/** File format that Spark reads. */
sealed abstract private[splice] class FileKind(val name: String, val vectorized: Boolean) extends Product
    with Serializable

private[splice] object FileKind {
  case object Parquet extends FileKind("parquet", vectorized = true)
  case object Orc     extends FileKind("orc", vectorized = true)
  case object Json    extends FileKind("json", vectorized = false)
  case object Csv     extends FileKind("csv", vectorized = false)
  case object Text    extends FileKind("text", vectorized = false)

  val all: Seq[FileKind] = Seq(Parquet, Orc, Json, Csv, Text)
}
