// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

import scala.collection.immutable.SortedMap

/** One source of a checkpoint.
  *
  * @param name
  *   of the leg; None for a source that is not part of a hybrid
  * @param source
  *   its kind
  * @param identity
  *   see [[Source.identity]]; None once the leg has ended, because its storage is not accessed any more
  * @param begun
  *   whether the switch to the leg is stored
  * @param countsBefore
  *   the leg whose hand-over is not decided and counts the rows of the leg that is directly before this one
  * @param removed
  *   whether the leg has ended and the chain does not have it any more
  */
final private[splice] case class LegIdentity(
    name: Option[String],
    source: String,
    identity: Option[SortedMap[String, String]],
    begun: Boolean = true,
    countsBefore: Option[String] = None,
    removed: Boolean = false
)
