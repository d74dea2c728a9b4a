// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.time.{Duration, Instant}

import scala.collection.mutable

/** One history of one query from its first start to its end: what happens when, and what has happened so far.
  *
  * Whatever takes a step says so here. Between two steps the rest of the world may move, and at every [[CrashPoint]] the driver may be killed.
  *
  * @param written
  *   whether steps are kept as text, to be shown
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

  /** How many steps were taken. */
  def steps: Int = count

  def crashPoints: Seq[CrashPoint] = crashes.toSeq

  /** The situations that the life went through. */
  def situations: Set[String] = passed.toSet

  def met(situation: String): Unit = passed += situation

  /** Whether the clock has ever moved back. */
  def hasMovedBack: Boolean = movedBack

  /** What was done, in order, when it is written down. */
  def journal: Seq[String] = texts.toSeq

  /** Something of the world that may move between two steps. */
  def whenever(move: => Unit): Unit = actors :+= (() => move)

  /** From now on nothing moves by itself and nobody is killed, so that the query can reach the end. */
  def calm(): Unit = quiet = true

  def isCalm: Boolean = quiet

  /** A step that the query takes. */
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

  /** A step of the world. */
  def note(text: => String): Unit = {
    count += 1
    if (written) texts += text
  }

  /** Lets the rest of the world move, unless it is moving already. */
  def move(): Unit = if (chance.oneIn(settings.moveOneIn)) moveNow()

  /** The query is away for a while, and the world goes on. */
  def pause(): Unit = {
    clock.advance(Duration.ofMinutes(chance.between(1, 20).toLong))
    (1 to chance.between(0, settings.movesInPause)).foreach(_ => moveNow())
  }

  private def moveNow(): Unit = if (!quiet && !moving && actors.nonEmpty) {
    moving = true
    try chance.oneOf(actors)()
    finally moving = false
  }

  /** The driver may be killed here. */
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

  /** From now on a driver may be frozen at a crash point while this runs. The second driver itself is not frozen. */
  def whenFrozen(run: () => Unit): Unit = second = Some(run)

  /** A driver begins that no other one follows yet. */
  def begin(): Unit = {
    second = None
    resumed = false
  }

  /** Whether the driver was frozen while another one ran. */
  def isResumed: Boolean = resumed

  /** Whether a storage operation fails here. */
  def ioFails(oneIn: Int): Boolean = !quiet && chance.oneIn(oneIn)
}

/** How lively a history is.
  *
  * @param moveOneIn
  *   in how many steps the rest of the world moves once
  * @param movesInPause
  *   how often it moves at most while the query is not running
  * @param crashOneIn
  *   at how many crash points the driver is killed once
  * @param firstCrashWithin
  *   after how many crash points the first kill comes at the latest
  * @param freezeOneIn
  *   at how many crash points the driver is frozen once, so that a second driver begins on the same checkpoint
  * @param clockBackOneIn
  *   in how many steps the clock moves back once
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
