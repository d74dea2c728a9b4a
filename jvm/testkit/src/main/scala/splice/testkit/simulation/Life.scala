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

  /** How many steps were taken. */
  def steps: Int = count

  def crashPoints: Seq[CrashPoint] = crashes.toSeq

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
  }
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
  */
final case class LifeSettings(
    moveOneIn: Int = 3,
    movesInPause: Int = 12,
    crashOneIn: Int = 40,
    crashesAtMost: Int = 6,
    firstCrashWithin: Int = 60
)
