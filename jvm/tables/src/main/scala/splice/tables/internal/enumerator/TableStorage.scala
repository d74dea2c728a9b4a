// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import org.apache.spark.sql.types.StructType

import splice.source.errors.SpliceOptionException
import splice.source.{EnumeratorContext, SplitReaderFactory, StartAfterVersion}

/** Interface of the enumerator to the table. Tests replace the table by a simulated one. */
private[tables] trait TableStorage {

  /** Fixes the version of the table and its slices. */
  def describe(context: EnumeratorContext): TableContent

  /** Error for an option that selects another version than the first start. */
  def difference(content: TableContent): Option[SpliceOptionException] = None

  /** Plans consecutive slices, and returns the number of partitions and the expected size of the slices. */
  def size(content: TableContent, from: Int, until: Int, columns: Option[StructType]): TableStorage.Size

  /** Number of the last batch of a Spark query, given by its id, that the version of the table contains. */
  def lastBatch(content: TableContent, query: String): Option[Long]

  /** Start of a stream of the table after the version, if its format has one. */
  def after(content: TableContent): Option[StartAfterVersion]

  /** Readers of planned batches.
    *
    * @param batches
    *   pairs of the first slice and the slice after the last slice
    */
  def readers(content: TableContent, columns: StructType, batches: Seq[(Int, Int)]): SplitReaderFactory
}

private[tables] object TableStorage {

  /** Size of slices. */
  final case class Size(partitions: Int, bytes: BigInt)
}
