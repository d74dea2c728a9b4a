// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.{Duration, Instant}

/** Limit of the times of known files, in milliseconds since 1970. Files that were modified before the limit are
  * forgotten.
  *
  * @param horizon
  *   age from which a file may be forgotten; None = no file is ever forgotten
  * @param most
  *   number of known files up to which no file is forgotten
  */
final private[files] case class LateLimit(horizon: Option[Duration], most: Int) {

  /** Limit after a listing. The limit never falls. The limit depends on the clock only if a file is later than the
    * clock.
    *
    * @param known
    *   number of known files
    * @param newest
    *   greatest modification time of all files so far
    * @param pending
    *   least modification time of the files that no segment has. A later run must not take these files for old files
    */
  def after(before: Option[Long], known: Int, newest: Long, pending: Option[Long], now: Instant): Option[Long] = {
    val latest = LateLimit.latest(now.toEpochMilli)
    val raised = horizon.filter(_ => known > most).map(math.min(newest, latest) - _.toMillis)
    (before ++ raised.map(limit => pending.fold(limit)(math.min(limit, _)))).maxOption
  }
}

private[files] object LateLimit {

  /** Number of known files up to which Splice forgets no file. */
  val Most = 1000000

  /** Tolerated lead of the clock of a storage over the clock of the driver. */
  private val ClockSkew = Duration.ofMinutes(5)

  /** Latest time of a file whose storage has the clock of the driver, in milliseconds. */
  def latest(now: Long): Long = now + ClockSkew.toMillis
}
