// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import scala.collection.mutable

import splice.hybrid.HandOverRule
import splice.source.internal.entries.Json
import splice.testkit.simulation.{Life, Violation}

/** User-defined rule of a simulated chain. The log starts at the end of the archives. A scenario runs on one thread,
  * which has the rule in a thread-local variable.
  */
final class SimulatedRule extends HandOverRule {
  override def start(evidence: String): String = SimulatedRule.calls.get().start(evidence)
}

object SimulatedRule {

  private val calls = new ThreadLocal[RuleCalls]

  /** Runs a scenario whose chain has this rule. */
  def within[A](own: RuleCalls)(life: => A): A = {
    calls.set(own)
    try life
    finally calls.remove()
  }
}

/** Calls of the rule in one scenario. A driver calls the rule at most once, and never after a start was stored.
  *
  * @param driver
  *   number of the current driver
  * @param isDecided
  *   true if the start is durable
  */
final class RuleCalls(life: Life, driver: () => Int, isDecided: () => Boolean) {

  private val by    = mutable.ArrayBuffer.empty[Int]
  private var fault = Option.empty[String]

  /** @throws Violation if the rule was called too often */
  def check(): Unit = fault.foreach(what => throw new Violation(what))

  def start(evidence: String): String = {
    life.step("the user-defined rule is called")
    // A driver that was frozen has not read the decisions of another driver.
    if (!life.isResumed) {
      if (isDecided()) fault = fault.orElse(Some("the user-defined rule is called after its start was stored"))
      if (by.lastOption.contains(driver())) fault = fault.orElse(Some("one driver calls the user-defined rule twice"))
      if (by.nonEmpty) life.met("a user-defined rule is called again")
    }
    by += driver()
    val held = Json.read(evidence).flatMap(Json.field(_, "offsets")).map(Json.items).getOrElse(Nil)
    val ends = held.groupMap(_.path("topic").asText)(one =>
      one.path("partition").asText -> Json.number(one.path("until").asLong)
    )
    Json.write(Json.obj("offsets" -> Json.obj(ends.toSeq.map { case (topic, own) => topic -> Json.obj(own: _*) }: _*)))
  }
}
