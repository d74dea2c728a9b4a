// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

/** The offsets of one source in the offset log of a checkpoint, as JSON. Each call reads the log. */
private[splice] trait OffsetLog {

  /** Returns the end of the last batch, or None if no batch of the source was logged. */
  def latest(): Option[String]

  /** Returns the first offset at which a replayed batch can begin, or None if this is the initial offset. */
  def oldest(): Option[String]
}

private[splice] object OffsetLog {

  /** The log of a bounded read, which has no checkpoint. */
  object Empty extends OffsetLog {
    override def latest(): Option[String] = None
    override def oldest(): Option[String] = None
  }
}
