// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.collection.concurrent.TrieMap

/** A hand-over rule of a user's own: computes where a leg starts after the previous leg has ended. Only JSON crosses, so a rule may be a
  * class or a Python function.
  *
  * A class needs a public constructor without arguments. The driver creates it at the switch and calls it once, on the query's thread.
  * A plan with a scan calls it too. Splice stores the start in the checkpoint and does not call the rule again. If the driver is killed before the start is stored, the next
  * run calls the rule again.
  */
trait HandOverRule {

  /** Returns the start.
    *
    * @param evidence
    *   one JSON object: the previous leg (`ended`), the leg that starts (`leg`), the time (`now`), the ranges of its log (`log`), and what
    *   is known of the previous legs: `offsets`, `eventTimes`, `modificationTimes`. Times are in milliseconds since 1970-01-01T00:00:00Z
    * @return
    *   `{"offsets":{"orders":{"0":12}}}`, the first offset to read of each partition, or `{"timestamp":1732190400000}`, a time in
    *   milliseconds. A partition that is not named is read from its first record. An exception ends the query, and a restart calls the rule
    *   again
    */
  def start(evidence: String): String
}

/** The rules that are functions of this driver's process, by names that hold in this process only. Used by any thread. */
object HandOverRules {

  private val known = TrieMap.empty[String, HandOverRule]

  /** Registers a rule for the life of the process, because a query may be started again. */
  def register(name: String, rule: HandOverRule): Unit = known.update(name, rule)

  private[hybrid] def find(name: String): Option[HandOverRule] = known.get(name)
}
