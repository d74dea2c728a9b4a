// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.time.{Duration, Instant}

import scala.collection.mutable

/** Scenario of one query from its first start to its end, with its schedule and its record of events.
  *
  * Each component reports its steps here. Between two steps the environment may change. At every [[CrashPoint]] the
  * driver may be killed.
  *
  * @param written
  *   true if steps are kept as text for display
  */
final class Life(val seed: Long, val settings: LifeSettings = LifeSettings(), written: Boolean = false) {

  val chance = new Chance(seed)
  val clock  = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  private val texts                      = mutable.ArrayBuffer.empty[String]
  private val crashes                    = mutable.ArrayBuffer.empty[CrashPoint]
  private var count                      = 0
  private var sinceCrash                 = 0
  private var actors: Vector[() => Unit] = Vector.empty
  private var moving                     = false
  private var quiet                      = false
  private val passed                     = mutable.Set.empty[String]
  private var second                     = Option.empty[() => Unit]
  private var freezes                    = 0
  private var movedBack                  = false
  private var resumed                    = false

  /** Number of steps. */
  def steps: Int = count

  def crashPoints: Seq[CrashPoint] = crashes.toSeq

  /** Situations that occurred in the scenario. */
  def situations: Set[String] = passed.toSet

  def met(situation: String): Unit = passed += situation

  /** True if the clock has moved back at least once. */
  def hasMovedBack: Boolean = movedBack

  /** Steps in order, if they are kept as text. */
  def journal: Seq[String] = texts.toSeq

  /** Registers a change of the environment that may happen between two steps. */
  def whenever(move: => Unit): Unit = actors :+= (() => move)

  /** Stops all further changes of the environment and kills, so the query can reach the end. */
  def calm(): Unit = quiet = true

  def isCalm: Boolean = quiet

  /** Records a step of the query. */
  def step(text: => String): Unit = {
    note(text)
    clock.advance(Duration.ofMillis(chance.between(1, 2000).toLong))
    if (!quiet && chance.oneIn(settings.clockBackOneIn)) {
      movedBack = true
      met("the clock moves back")
      clock.set(Duration.ofMinutes(-chance.between(1, 90).toLong))
      note(s"the clock moves back to ${clock.instant()}")
    }
    move()
  }

  /** Records a step of the environment. */
  def note(text: => String): Unit = {
    count += 1
    if (written) texts += text
  }

  /** Changes the environment with some probability, unless a change is already running. */
  def move(): Unit = if (chance.oneIn(settings.moveOneIn)) moveNow()

  /** Simulates a pause of the query during which the environment changes. */
  def pause(): Unit = {
    clock.advance(Duration.ofMinutes(chance.between(1, 20).toLong))
    (1 to chance.between(0, settings.movesInPause)).foreach(_ => moveNow())
  }

  private def moveNow(): Unit = if (!quiet && !moving && actors.nonEmpty) {
    moving = true
    try chance.oneOf(actors)()
    finally moving = false
  }

  /** Marks a point at which the driver may be killed. */
  def reach(point: CrashPoint): Unit = {
    sinceCrash += 1
    val due = crashes.isEmpty && sinceCrash > settings.firstCrashWithin
    if (!quiet && crashes.size < settings.crashesAtMost && (due || chance.oneIn(settings.crashOneIn))) {
      sinceCrash = 0
      crashes += point
      note(s"the driver is killed $point")
      throw new Crash(point)
    }
    if (!quiet && freezes < settings.freezesAtMost && chance.oneIn(settings.freezeOneIn)) second.foreach { run =>
      freezes += 1
      second = None
      note(s"the driver is frozen $point, and another one begins")
      run()
      resumed = true
      note(s"the frozen driver resumes $point")
    }
  }

  /** Registers a second driver. From now on, the first driver may be frozen at a crash point while the second driver
    * runs. The second driver is never frozen.
    */
  def whenFrozen(run: () => Unit): Unit = second = Some(run)

  /** Starts a driver without a second driver. */
  def begin(): Unit = {
    second = None
    resumed = false
  }

  /** True if a second driver ran in the scenario. */
  def wasFrozen: Boolean = freezes > 0

  /** True if the driver was frozen while another driver ran. */
  def isResumed: Boolean = resumed

  /** True if a storage operation fails here. */
  def ioFails(oneIn: Int): Boolean = !quiet && chance.oneIn(oneIn)
}

/** Probabilities and limits of the events in a scenario.
  *
  * @param moveOneIn
  *   mean number of steps between two changes of the environment
  * @param movesInPause
  *   maximum number of changes of the environment during a pause of the query
  * @param crashOneIn
  *   mean number of crash points per kill of the driver
  * @param firstCrashWithin
  *   number of crash points after which the first kill happens at the latest
  * @param freezeOneIn
  *   mean number of crash points per freeze of the driver. A second driver then starts on the same checkpoint
  * @param clockBackOneIn
  *   mean number of steps between two backward changes of the clock
  */
final case class LifeSettings(
    moveOneIn: Int = 3,
    movesInPause: Int = 12,
    crashOneIn: Int = 40,
    crashesAtMost: Int = 6,
    firstCrashWithin: Int = 60,
    freezeOneIn: Int = 300,
    freezesAtMost: Int = 2,
    clockBackOneIn: Int = 1000
)
