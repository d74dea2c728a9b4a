// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

import scala.collection.immutable.SortedMap

/** One source of a checkpoint.
  *
  * @param name
  *   name of the leg, or None for a source that is not part of a hybrid
  * @param source
  *   kind of the source
  * @param identity
  *   see [[Source.identity]]. After the leg has ended, the value is None, because Splice no longer accesses the storage
  *   of the leg
  * @param begun
  *   true if the switch to the leg is stored
  * @param countsBefore
  *   leg with a pending hand-over that counts the rows of the leg directly before this leg
  * @param removed
  *   true if the leg has ended and is no longer part of the chain
  */
final private[splice] case class LegIdentity(
    name: Option[String],
    source: String,
    identity: Option[SortedMap[String, String]],
    begun: Boolean = true,
    countsBefore: Option[String] = None,
    removed: Boolean = false
)
