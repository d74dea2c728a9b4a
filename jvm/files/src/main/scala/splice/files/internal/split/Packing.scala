// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import scala.collection.mutable

/** Packs files into tasks with the algorithm of Spark's file scan (`FilePartition`). The input is only the list of
  * the first start.
  *
  * @param maxPartitionBytes
  *   maximum number of bytes per task
  * @param openCostInBytes
  *   cost of opening a file, in bytes
  * @param minPartitions
  *   desired minimum number of tasks per batch
  */
final private[splice] case class Packing(maxPartitionBytes: Long, openCostInBytes: Long, minPartitions: Int) {

  /** Packs parts of files into ranges, one per task. Pure. */
  def ranges(parts: Seq[FilePart], files: Int => ListedFile, schemas: FileSchemas): Seq[FileRange] = {
    val limit = maxSplitBytes(parts)
    val cuts  = Array.newBuilder[Cut]
    parts.foreach(part => cut(part, files(part.file), limit, cuts))
    pack(cuts.result().sorted(Packing.largestFirst), limit).map(range(_, schemas))
  }

  /** Creates a range of one part without splitting it. Pure. */
  def range(part: FilePart, files: Int => ListedFile, schemas: FileSchemas): FileRange = {
    val cut = Packing.cut(part, files(part.file), part.start, part.length)
    FileRange(cut.block, Packing.hosts(Seq(cut)), schemas)
  }

  private def maxSplitBytes(parts: Seq[FilePart]): Long = {
    var total = 0L
    parts.foreach(total += _.length + openCostInBytes)
    math.max(1L, math.min(maxPartitionBytes, math.max(openCostInBytes, total / minPartitions)))
  }

  // Row numbers count from the start of a block, so a part with a span of rows must stay one block.
  private def cut(part: FilePart, file: ListedFile, limit: Long, to: mutable.Growable[Cut]): Unit = {
    def add(start: Long, length: Long): Unit = { val _ = to += Packing.cut(part, file, start, length) }
    if (!file.splittable || part.rows.nonEmpty) add(part.start, part.length)
    else {
      val end   = part.start + part.length
      var start = part.start
      while (start < end) {
        add(start, math.min(limit, end - start))
        start += limit
      }
    }
  }

  // Next-fit packing of blocks, largest block first.
  private def pack(cuts: Array[Cut], limit: Long): Seq[Seq[Cut]] = {
    val done          = Vector.newBuilder[Seq[Cut]]
    val open          = mutable.ArrayBuffer.empty[Cut]
    var size          = 0L
    def close(): Unit = {
      if (open.nonEmpty) done += open.toVector
      open.clear()
      size = 0L
    }
    cuts.foreach { cut =>
      if (size + cut.block.length > limit) close()
      size += cut.block.length + openCostInBytes
      open += cut
    }
    close()
    done.result()
  }

  private def range(cuts: Seq[Cut], schemas: FileSchemas): FileRange =
    new FileRange(
      s"${cuts.head.block.file}:${cuts.head.block.start}",
      cuts.iterator.map(_.block).toArray,
      Packing.hosts(cuts),
      schemas
    )
}

private[splice] object Packing {

  private val HostsKept = 3

  private val NoHosts = Array.empty[String]

  private val largestFirst: Ordering[Cut] = (a, b) => java.lang.Long.compare(b.block.length, a.block.length)

  private def cut(part: FilePart, file: ListedFile, start: Long, length: Long): Cut =
    Cut(FileBlock(part.file, file.path, start, length, file.size, file.modified, file.values, part.rows), file.homes)

  /** Hosts with the most bytes of the blocks, in descending order. */
  private def hosts(cuts: Seq[Cut]): Array[String] =
    if (cuts.forall(_.homes.isEmpty)) NoHosts
    else {
      val held  = cuts.flatMap(cut => cut.home.toSeq.flatMap(_.hosts).map(_ -> cut.block.length))
      val bytes = held.groupMapReduce(_._1)(_._2)(_ + _).toSeq
      bytes.sortBy { case (host, n) => (-n, host) }.take(HostsKept).map(_._1).toArray
    }
}

/** Block with the locations of its file. */
final private case class Cut(block: FileBlock, homes: Seq[BlockHome]) {

  /** Location with the largest part of the block. */
  def home: Option[BlockHome] = homes.maxByOption { home =>
    math.min(home.start + home.length, block.start + block.length) - math.max(home.start, block.start)
  }
}
