// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import java.io.{FileNotFoundException, IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.time.Duration

import org.apache.hadoop.hdfs.BlockMissingException
import org.apache.spark.TaskKilledException
import org.apache.spark.sql.catalyst.InternalRow
import org.slf4j.LoggerFactory

import splice.files.internal.access.{AccessDenied, Causes, NoFileSystem, PathUsers}
import splice.files.internal.errors.FileErrors
import splice.files.internal.split.{FileBlock, FileRange}
import splice.source.errors.SpliceException
import splice.source.{Poll, SplitRange, SplitReader}

/** Reads the blocks of one task in sequence.
  *
  * @param items
  *   converts the rows of a block to items of the reader. Items are single rows if the block has a span of rows. The
  *   iterator may reuse one object
  */
final private[splice] class BlockReader[T](
    blocks: IndexedSeq[FileBlock],
    open: FileBlock => Iterator[InternalRow],
    items: Iterator[InternalRow] => Iterator[T],
    policy: FilePolicy,
    users: PathUsers = PathUsers.Nobody
) extends SplitReader[T] {

  private var block: Option[FileBlock]      = None
  private var opened: Iterator[InternalRow] = Iterator.empty
  private var current: Iterator[T]          = Iterator.empty
  private var item: T                       = _

  // Number of opened blocks, and number of items that the current block has returned.
  private var opening = 0
  private var taken   = 0L
  private var isOver  = true

  // Ranges after the current block. All results of `unread` share this list while the block is read.
  private var later = Option.empty[List[FileRange]]

  override def poll(patience: Duration): Poll = {
    var hasItem = step()
    while (!hasItem && opening < blocks.size) {
      close()
      turnTo(blocks(opening))
      hasItem = step()
    }
    if (hasItem) Poll.Found else Poll.Ended
  }

  override def get(): T = item

  // In real-time mode each block has a span of rows, so items are single rows.
  override def unread: List[SplitRange] = {
    val rest = later.getOrElse(blocks.iterator.drop(opening).map(FileRange(_)).toList)
    later = Some(rest)
    block.filterNot(_ => isOver).fold[List[SplitRange]](rest)(begun => FileRange(begun.after(taken)) :: rest)
  }

  override def close(): Unit = {
    opened match {
      case resource: AutoCloseable => resource.close()
      case _                       => ()
    }
    opened = Iterator.empty
    current = Iterator.empty
    InputFileBlock.unset()
  }

  private def turnTo(next: FileBlock): Unit = {
    block = Some(next)
    opening += 1
    later = None
    taken = 0L
    isOver = false
    InputFileBlock.set(next.path, next.start, next.length)
    try {
      opened = open(next)
      val all = items(opened)
      current = next.rows.fold(all)(_.of(all))
    } catch { case e: Exception => skip(e) }
  }

  private def step(): Boolean =
    try {
      val hasItem = current.hasNext
      if (hasItem) {
        item = current.next()
        taken += 1
      } else isOver = true
      hasItem
    } catch {
      case e: Exception =>
        skip(e)
        false
    }

  private def skip(e: Exception): Unit = {
    val shown = users.cleaned(e)
    val path  = block.fold("")(_.path)
    e match {
      case BlockReader.Unavailable() | BlockReader.Interrupt() | _: SpliceException => throw shown
      case _: FileNotFoundException             => if (!policy.ignoreMissing) throw FileErrors.fileNotFound(path, shown)
      case _: RuntimeException | _: IOException =>
        if (!policy.ignoreCorrupt) throw FileErrors.fileNotReadable(path, shown, canSkip = true)
      case _ => throw FileErrors.fileNotReadable(path, shown, canSkip = false)
    }
    BlockReader.logger.warn(s"Skipped the remaining rows of ${block.fold("")(_.toString)}", shown)
    current = Iterator.empty
    isOver = true
  }
}

private object BlockReader {
  private val logger = LoggerFactory.getLogger(classOf[BlockReader[_]])

  /** Matches errors of a task that Spark stops. The file may be readable. */
  private object Interrupt {
    def unapply(e: Exception): Boolean = e match {
      case _: SocketTimeoutException                              => false
      case _: InterruptedException | _: InterruptedIOException    => true
      case _: ClosedByInterruptException | _: TaskKilledException => true
      case _                                                      => false
    }
  }

  /** Matches denied access, missing blocks and missing file systems. Another attempt may be able to read the file. File
    * formats wrap such errors.
    */
  private object Unavailable {
    def unapply(e: Throwable): Boolean = Causes.of(e).exists {
      case AccessDenied(_) | NoFileSystem(_) | _: BlockMissingException => true
      case _                                                            => false
    }
  }
}
