// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import splice.hybrid.internal.chain.OnHoles
import splice.source.options.FailOrWarn
import splice.testkit.simulation.Life

/** Chain and policies of one scenario. */
final class ChainPlan private (life: Life, only: Option[Shape], isTimed: Boolean) {

  private val chance = life.chance

  /** True if progress is tracked asynchronously. */
  val asynchronous: Boolean = chance.oneIn(5)

  /** True if some runs are in continuous mode. */
  val isContinuous: Boolean = isTimed && chance.oneIn(2)

  val shape: Shape = only.getOrElse {
    if (chance.oneIn(3)) chance.oneOf(Shape.byTime)
    else chance.oneOf(Shape.all)
  }

  /** True if missing rows of a log are an error after the start of its leg. */
  val strict: Boolean = !chance.oneIn(4)

  val transactional: Boolean = chance.oneIn(3)

  /** Policy of the legs for holes. A topic with transactions has offsets without a record. */
  val onHoles: OnHoles =
    if (transactional) chance.oneOf(Seq(OnHoles.Ignore, OnHoles.Fill))
    else chance.oneOf(Seq(OnHoles.Fill, OnHoles.Fill, OnHoles.Fill, OnHoles.Fail, OnHoles.Ignore))

  /** Policy of a hand-over for rows that are in no archive and no longer in the log. */
  val onGap: FailOrWarn = chance.oneOf(Seq(FailOrWarn.Fail, FailOrWarn.Fail, FailOrWarn.Warn))

  /** Policy of a hand-over for rows that archives have several times. */
  val onDuplicates: FailOrWarn = chance.oneOf(Seq(FailOrWarn.Fail, FailOrWarn.Warn))

  /** True if a pattern selects the topics. */
  val byPattern: Boolean = chance.oneIn(3)

  /** True if some archives skip records. */
  val skips: Boolean = shape.exact && chance.oneIn(6)

  /** True if some archives have records of an older archive. */
  val repeats: Boolean = shape.exact && !skips && chance.oneIn(40)

  /** True if the archives skip missing and unreadable files. The log supplies the skipped rows. */
  val skipsFiles: Boolean =
    !isTimed && Set[Shape](Shape.Archives, Shape.Dumps, Shape.Twice, Shape.Moved)(shape) && onHoles == OnHoles.Fill &&
      chance.oneIn(3)

  /** True if a bounded read replaces the query. */
  val isBounded: Boolean = !isTimed && only.isEmpty && shape.exact && shape != Shape.Relay && chance.oneIn(20)

  /** True if the archives are watched folders. The other choices of a seed do not depend on this choice. */
  val watches: Boolean = only.isEmpty && shape != Shape.Relay && life.seed / 8 % 2 == 0

  /** True if the log does not supply the missing rows of archives. The user-defined rule starts at the end of the
    * archives.
    */
  def leavesHoles: Boolean = onHoles == OnHoles.Ignore || shape == Shape.Custom

  /** True if rows may be delivered as often as the archives contain the rows. */
  def acceptsDuplicates: Boolean = onDuplicates == FailOrWarn.Warn || shape == Shape.Custom

  /** Names of the choices. */
  def choices: Seq[String] =
    Seq(s"shape $shape", s"strict $strict", s"holes $onHoles", s"gap $onGap", s"duplicates $onDuplicates") ++ Seq(
      "asynchronous"  -> asynchronous,
      "continuous"    -> isContinuous,
      "transactional" -> transactional,
      "pattern"       -> byPattern,
      "skips"         -> skips,
      "repeats"       -> repeats,
      "skipsFiles"    -> skipsFiles,
      "bounded"       -> isBounded,
      "watches"       -> watches
    ).filter(_._2).map(_._1)
}

object ChainPlan {

  /** Plan of the scenario of a seed. */
  def of(seed: Int): ChainPlan = of(new Life(seed.toLong), None, isTimed = false)

  /** Plan with the first choices of a scenario.
    *
    * @param only
    *   shape of the chain; None = random
    * @param isTimed
    *   true if some runs are in low-latency modes
    */
  def of(life: Life, only: Option[Shape], isTimed: Boolean): ChainPlan = new ChainPlan(life, only, isTimed)
}
