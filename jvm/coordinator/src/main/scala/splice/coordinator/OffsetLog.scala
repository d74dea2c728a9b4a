// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

/** The offsets of one source that Spark keeps in the offset log of a checkpoint, as JSON. Each call reads the log. */
private[splice] trait OffsetLog {

  /** The end of the last batch; None when no batch of the source was logged. */
  def latest(): Option[String]

  /** The first offset at which a batch that is read again can begin; None when that is the initial offset. */
  def oldest(): Option[String]
}

private[splice] object OffsetLog {

  /** The log of a bounded read, which has no checkpoint. */
  object Empty extends OffsetLog {
    override def latest(): Option[String] = None
    override def oldest(): Option[String] = None
  }
}
