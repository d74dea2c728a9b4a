// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import scala.util.matching.Regex

/** Plan to kill a run at the n-th matching step.
  *
  * The text format is `<action> <before|after> <create|rename|row> <n> <regular expression>`, for example `die
  * before rename 1 /offsets/3$`. The regular expression must match a part of the name.
  */
final private[splice] case class KillPlan(action: KillAction, when: String, kind: String, nth: Int, name: Regex) {
  def fits(step: Step): Boolean =
    step.when == when && step.kind == kind && name.findFirstIn(step.name).isDefined
}

private[splice] object KillPlan {

  private val written = """(\w+) (before|after) (create|rename|row) (\d+) (.+)""".r

  /** @throws java.lang.IllegalArgumentException if the text is not a plan, because a test would pass without a kill */
  def read(text: String): KillPlan = text match {
    case written(action, when, kind, nth, name) if KillAction.named.contains(action) =>
      KillPlan(KillAction.named(action), when, kind, nth.toInt, name.r)
    case _ =>
      throw new IllegalArgumentException(
        s"'$text' is not a valid plan. Use <${KillAction.named.keys.toSeq.sorted.mkString("|")}> <before|after> <create|rename|row> <n> <regular expression>."
      )
  }
}
