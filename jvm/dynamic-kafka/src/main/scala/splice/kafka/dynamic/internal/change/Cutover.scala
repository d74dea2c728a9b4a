// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

/** Order in which the topics of a stream that moves are read. */
sealed abstract private[dynamic] class Cutover(val word: String) extends Product with Serializable

private[dynamic] object Cutover {

  /** Removed and new topics are read at the same time. */
  case object Together extends Cutover("together")

  /** The new topics of a stream wait until its removed topics are drained. */
  case object Stream extends Cutover("stream")

  val all: Seq[Cutover] = Seq(Together, Stream)
}
