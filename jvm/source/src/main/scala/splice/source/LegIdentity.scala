// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

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
  *   whether the query has reached the leg
  */
final private[splice] case class LegIdentity(
    name: Option[String],
    source: String,
    identity: Option[SortedMap[String, String]],
    begun: Boolean = true
)
