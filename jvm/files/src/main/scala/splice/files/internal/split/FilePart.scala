// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

/** Part of a listed file that one batch reads: the whole file or a block of its [[FileGrid]].
  *
  * @param file
  *   number of the file in the list
  * @param rows
  *   span of rows to read; None = all rows
  */
final private[splice] case class FilePart(file: Int, start: Long, length: Long, rows: Option[RowSpan] = None)
