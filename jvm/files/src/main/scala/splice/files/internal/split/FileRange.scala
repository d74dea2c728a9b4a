// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import splice.source.SplitRange
import splice.source.log.Extent

/** Blocks that one task reads. Small files are packed together, and large files are split.
  *
  * @param schemas
  *   schemas of the list of the blocks; used on the driver only, to create readers
  */
final private[splice] class FileRange(
    override val splitId: String,
    val blocks: Array[FileBlock],
    hosts: Array[String],
    @transient val schemas: FileSchemas
) extends SplitRange {

  override def weight: Long = blocks.iterator.map(_.length).sum

  override def slotted: Boolean = false

  /** True if a block has a span of rows, so that its rows must be counted. */
  def countsRows: Boolean = blocks.exists(_.rows.nonEmpty)

  override def extents: Seq[Extent] = blocks.toSeq.map(_.extent)

  override def preferredHosts: Seq[String] = hosts.toSeq

  override def equals(other: Any): Boolean = other match {
    case that: FileRange => that.splitId == splitId && that.blocks.sameElements(blocks)
    case _               => false
  }

  override def hashCode: Int = splitId.hashCode

  override def toString: String = s"FileRange($splitId, ${blocks.length} blocks, $weight bytes)"
}

private[splice] object FileRange {

  /** Creates a range of one block. */
  def apply(block: FileBlock, hosts: Array[String] = Array.empty, schemas: FileSchemas = FileSchemas.empty): FileRange =
    new FileRange(s"${block.file}:${block.start}", Array(block), hosts, schemas)
}
