// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

/** User-defined hand-over rule that computes the start of a leg after the previous leg has ended. Evidence and result
  * are JSON, so a rule is either a class or a Python function.
  *
  * A class needs a public constructor without arguments. The driver creates the rule at the switch and calls it once,
  * on the query thread. A plan with a scan also calls the rule. Splice stores the start in the checkpoint and does
  * not call the rule again. If the driver is killed before the start is stored, the next run calls the rule again.
  */
trait HandOverRule {

  /** Returns the start.
    *
    * @param evidence
    *   JSON object with the previous leg (`ended`), the leg that starts (`leg`), the time (`now`) and the ranges of
    *   its log (`log`). If available, the object has `offsets`, `eventTimes` and `modificationTimes` of the previous
    *   legs. Times are in milliseconds since 1970-01-01T00:00:00Z
    * @return
    *   `{"offsets":{"orders":{"0":12}}}`, the first offset to read from each partition, or
    *   `{"timestamp":1732190400000}`, a time in milliseconds. A missing partition is read from its first record. For a
    *   leg with the source `stream`, the result is `{"position":{...}}`, an offset of its stream. If the value is a
    *   string, Splice uses the text of the string unchanged. An exception ends the query, and a restart calls the rule
    *   again
    */
  def start(evidence: String): String
}
