// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import scala.util.matching.Regex

/** Where a process is to be killed: at the n-th step that fits.
  *
  * Written `<action> <before|after> <create|rename|row> <n> <regular expression that the name contains>`, for example
  * `halt before rename 1 /offsets/3$`.
  */
final private[splice] case class KillPlan(action: KillAction, when: String, kind: String, nth: Int, name: Regex) {
  def fits(step: Step): Boolean =
    step.when == when && step.kind == kind && name.findFirstIn(step.name).isDefined
}

private[splice] object KillPlan {

  private val written = """(\w+) (before|after) (create|rename|row) (\d+) (.+)""".r

  /** @throws java.lang.IllegalArgumentException when the text is no plan, so that no test passes because nothing was killed */
  def read(text: String): KillPlan = text match {
    case written(action, when, kind, nth, name) if KillAction.named.contains(action) =>
      KillPlan(KillAction.named(action), when, kind, nth.toInt, name.r)
    case _ =>
      throw new IllegalArgumentException(
        s"'$text' is no plan. Write <${KillAction.named.keys.toSeq.sorted.mkString("|")}> <before|after> <create|rename|row> <n> <regular expression>."
      )
  }
}
