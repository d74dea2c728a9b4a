// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

/** The delay of a watermark on the timestamps of records that would have dropped no row of a run.
  *
  * A row is late if its time is not after the greatest time of earlier batches minus the delay. The figure is therefore 1
  * plus the greatest difference, over all batches, between the greatest time of earlier batches and the least time of the
  * batch. Thread-safe.
  */
final private[splice] class DelayNeeded {

  // The greatest time of earlier batches, and the times of the last batch.
  private var before   = Long.MinValue
  private var least    = Long.MaxValue
  private var greatest = Long.MinValue
  private var ended    = Option.empty[Long]
  private var isBatch  = false

  /** Adds the records that tasks of the last batch have read. */
  def add(reads: TaskReads): Unit = synchronized {
    reads.partitions.valuesIterator.filter(read => read.least <= read.greatest).foreach { read =>
      least = math.min(least, read.least)
      greatest = math.max(greatest, read.greatest)
    }
  }

  /** Begins the next batch. All reports of the batch before have been added. */
  def next(): Unit = synchronized {
    ended = millis
    isBatch = true
    before = math.max(before, greatest)
    least = Long.MaxValue
    greatest = Long.MinValue
  }

  /** The greatest time of a row of this run, in milliseconds since 1970; None before the first row. */
  def delivered: Option[Long] = synchronized(Some(math.max(before, greatest)).filter(_ != Long.MinValue))

  /** The delay in milliseconds; None before the first row, in a run without batches, and if readers report no times. */
  def millis: Option[Long] = synchronized {
    if (!isBatch || least == Long.MaxValue) ended
    else Some(math.max(ended.getOrElse(0L), if (before == Long.MinValue) 0L else math.max(before - least + 1, 0L)))
  }
}
