// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Clock

/** The surroundings of an enumerator in one run of one query.
  *
  * @param sideLog
  *   the enumerator's durable decisions
  * @param mode
  *   whether the run is a stream or one bounded read
  * @param cores
  *   cores known when the run began; a first decision that depends on it must be stored
  * @param run
  *   names this run of the query, and the part of its source that the enumerator serves; readers are reused within one run only
  * @param batchesToRetain
  *   the number of committed batches whose offsets Spark keeps, and whose entries the side log keeps
  * @param session
  *   the settings by which readers evaluate expressions. The coordinator replaces them with those of the checkpoint's first start
  * @param jobs
  *   runs work on executors
  */
final case class EnumeratorContext(
    sideLog: SideLog,
    mode: ReadMode,
    clock: Clock,
    cores: Int,
    run: String,
    batchesToRetain: Int = 100,
    session: SessionSettings = SessionSettings.current,
    jobs: Jobs = Jobs.InThread
) {

  /** The context of a part, such as a leg, with a side log and readers of its own. */
  def scope(name: String): EnumeratorContext = copy(sideLog = sideLog.scope(name), run = s"$run-$name")
}

sealed trait ReadMode extends Product with Serializable

object ReadMode {
  case object Batch  extends ReadMode
  case object Stream extends ReadMode
}
