// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.source.errors.SpliceException

/** Reason why a document is not applied. */
sealed private[dynamic] trait Rejection extends Product with Serializable

private[dynamic] object Rejection {

  /** Returns the reason for a rejection if the generation of a document is lower than a previous generation. */
  def older(known: Option[Long], document: StreamMetadata): Option[Rejection] =
    for (was <- known; is <- document.generation if is < was) yield Older(was, is)

  final case class Older(applied: Long, found: Long)                extends Rejection
  final case class Empty(all: Int)                                  extends Rejection
  final case class TooMany(removed: Int, all: Int, most: Int)       extends Rejection
  final case class Twice(topic: ClusterTopic, streams: Seq[String]) extends Rejection
  final case class Cutover(stream: String, why: String)             extends Rejection

  /** The metadata service returned a document that is not valid. Two errors with the same text are equal. */
  final case class Invalid(text: String)(val error: SpliceException) extends Rejection

  def invalid(error: SpliceException): Rejection = Invalid(error.text)(error)
}
