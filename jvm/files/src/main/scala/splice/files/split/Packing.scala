// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.split

import scala.collection.mutable

/** Makes tasks of files as Spark's own file scan does (`FilePartition`), but from what was logged at the first start only.
  *
  * @param maxPartitionBytes
  *   what a task reads at most
  * @param openCostInBytes
  *   what opening a file counts for
  * @param minPartitions
  *   into how many tasks a batch is divided, if its size allows it
  */
final private[splice] case class Packing(maxPartitionBytes: Long, openCostInBytes: Long, minPartitions: Int) {

  /** The tasks that read `files`, of which the first is number `offset` of its list. Pure. */
  def ranges(files: Seq[ListedFile], offset: Int, schemas: FileSchemas): Seq[FileRange] = {
    val limit  = maxSplitBytes(files)
    val blocks = files.iterator.zipWithIndex.flatMap { case (file, i) => cut(file, offset + i, limit) }.toArray
    pack(blocks.sortBy(-_.block.length).iterator, limit).map(range(_, schemas))
  }

  private def maxSplitBytes(files: Seq[ListedFile]): Long = {
    val total = files.iterator.map(_.size + openCostInBytes).sum
    math.max(1L, math.min(maxPartitionBytes, math.max(openCostInBytes, total / minPartitions)))
  }

  private def cut(file: ListedFile, number: Int, limit: Long): Iterator[Cut] = {
    def block(start: Long, length: Long) =
      Cut(FileBlock(file.path, start, length, file.size, file.modified, file.values), number, file.homes)
    if (file.splittable)
      Iterator.iterate(0L)(_ + limit).takeWhile(_ < file.size).map(s => block(s, math.min(limit, file.size - s)))
    else Iterator.single(block(0L, file.size))
  }

  // Next-fit over blocks from the largest to the smallest.
  private def pack(blocks: Iterator[Cut], limit: Long): Seq[Seq[Cut]] = {
    val done          = Seq.newBuilder[Seq[Cut]]
    val open          = mutable.ArrayBuffer.empty[Cut]
    var size          = 0L
    def close(): Unit = {
      if (open.nonEmpty) done += open.toVector
      open.clear()
      size = 0L
    }
    blocks.foreach { cut =>
      if (size + cut.block.length > limit) close()
      size += cut.block.length + openCostInBytes
      open += cut
    }
    close()
    done.result()
  }

  private def range(cuts: Seq[Cut], schemas: FileSchemas): FileRange =
    new FileRange(
      s"${cuts.head.number}:${cuts.head.block.start}",
      cuts.iterator.map(_.block).toArray,
      Packing.hosts(cuts),
      schemas
    )
}

private[splice] object Packing {

  private val HostsKept = 3

  /** The hosts that hold most of the bytes, best first. */
  private def hosts(cuts: Seq[Cut]): Array[String] = {
    val bytes = cuts.iterator.flatMap(cut => cut.home.iterator.flatMap(_.hosts).map(_ -> cut.block.length))
    bytes.toSeq.groupMapReduce(_._1)(_._2)(
      _ + _
    ).toSeq.sortBy { case (host, n) => (-n, host) }.take(HostsKept).map(_._1).toArray
  }
}

/** A block, the number of its file in the list, and where the file is. */
final private case class Cut(block: FileBlock, number: Int, homes: Seq[BlockHome]) {

  /** The part of the file that holds most of the block. */
  def home: Option[BlockHome] = homes.maxByOption { home =>
    math.min(home.start + home.length, block.start + block.length) - math.max(home.start, block.start)
  }
}
