// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.coordinator.internal.{EpochLog, OffsetLog}
import splice.spark.internal.checkpoint.BatchLogs

/** The offset log and the commit log of a checkpoint, for one source.
  *
  * @param source
  *   `sources/<name>` of the checkpoint
  */
final private[spark] class LoggedBatches(source: Path, configuration: Configuration) extends OffsetLog
    with EpochLog {

  import LoggedBatches._

  private val logs = {
    val checkpoint = source.getParent.getParent
    new BatchLogs(checkpoint.getFileSystem(configuration), checkpoint)
  }

  /** Returns the offset of the source after the last committed batch, or None if no batch is committed. Spark calls
    * `commit` of a source only when the next batch begins, so only the checkpoint has the last commit of a run.
    */
  def committed(): Option[String] = logs.commits.lastOption.flatMap(end)

  override def uncommitted(): Seq[Long] = {
    val last = logs.commits.lastOption
    logs.offsets.toSeq.filter(batch => last.forall(_ < batch))
  }

  override def end(batch: Long): Option[String] = logs.position(batch, source.getName)

  /** Returns the last batch that has an offset, if this batch is an epoch of continuous mode. */
  def lastEpoch(): Option[Long] = logs.offsets.lastOption.filter(isEpoch)

  /** True if a batch is an epoch of continuous mode. Spark logs no metadata for an epoch. */
  override def isEpoch(batch: Long): Boolean = logs.readOffset(batch).exists(_.isEpoch)

  override def remove(batch: Long): Unit = logs.removeOffset(batch)

  override def latest(): Option[String] = logs.offsets.lastOption.flatMap(end)

  override def oldest(): Option[String] = logs.offsets.headOption.filter(_ > First).flatMap(end)
}

private[spark] object LoggedBatches {

  // The number of the first batch, which begins at the initial offset.
  private val First = 0L
}
