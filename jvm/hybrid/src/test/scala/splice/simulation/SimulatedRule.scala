// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import scala.collection.mutable

import splice.hybrid.HandOverRule
import splice.source.internal.entries.Json
import splice.testkit.simulation.{Life, Violation}

/** The rule of the user in a simulated chain: the log starts at the end of the archives. A life runs on one thread, which finds the rule here. */
final class SimulatedRule extends HandOverRule {
  override def start(evidence: String): String = SimulatedRule.calls.get().start(evidence)
}

object SimulatedRule {

  private val calls = new ThreadLocal[RuleCalls]

  /** Runs a life whose chain has this rule. */
  def within[A](own: RuleCalls)(life: => A): A = {
    calls.set(own)
    try life
    finally calls.remove()
  }
}

/** The calls of the rule in one life. A driver calls it once at most, and none calls it after a start was stored.
  *
  * @param driver
  *   the number of the driver that runs
  * @param isDecided
  *   whether the start is durable
  */
final class RuleCalls(life: Life, driver: () => Int, isDecided: () => Boolean) {

  private val by    = mutable.ArrayBuffer.empty[Int]
  private var fault = Option.empty[String]

  /** @throws Violation when the rule was called too often */
  def check(): Unit = fault.foreach(what => throw new Violation(what))

  def start(evidence: String): String = {
    life.step("the rule of the user is called")
    // A driver that was frozen does not know what another one has decided.
    if (!life.isResumed) {
      if (isDecided()) fault = fault.orElse(Some("the rule of the user is called after its start was stored"))
      if (by.lastOption.contains(driver())) fault = fault.orElse(Some("one driver calls the rule of the user twice"))
      if (by.nonEmpty) life.met("a rule of the user is called again")
    }
    by += driver()
    val held = Json.read(evidence).flatMap(Json.field(_, "offsets")).map(Json.items).getOrElse(Nil)
    val ends = held.groupMap(_.path("topic").asText)(one =>
      one.path("partition").asText -> Json.number(one.path("until").asLong)
    )
    Json.write(Json.obj("offsets" -> Json.obj(ends.toSeq.map { case (topic, own) => topic -> Json.obj(own: _*) }: _*)))
  }
}
