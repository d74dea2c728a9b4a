// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Clock

/** What an enumerator may lean on.
  *
  * @param sideLog
  *   the enumerator's own durable decisions
  * @param mode
  *   whether the run is a stream or one bounded read
  * @param cores
  *   cores known when the run began; a first decision made from it must be written down
  * @param run
  *   names this run of the query
  * @param batchesToRetain
  *   for how many committed batches Spark keeps offsets, and the side log what they name
  */
final case class EnumeratorContext(
    sideLog: SideLog,
    mode: ReadMode,
    clock: Clock,
    cores: Int,
    run: String,
    batchesToRetain: Int = 100
) {

  /** The context of a part, such as a leg, with a side log of its own. */
  def scope(name: String): EnumeratorContext = copy(sideLog = sideLog.scope(name))
}

sealed trait ReadMode extends Product with Serializable

object ReadMode {
  case object Batch  extends ReadMode
  case object Stream extends ReadMode
}
