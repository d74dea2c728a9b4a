// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.testkit.simulation.{Life, SimulatedSpark, Violation}

/** Changes of the chain at a restart: a leg is removed, returns or is added. A change that loses or repeats rows must
  * be rejected with the name of the leg. The next start then has all legs again. Switch entries and Spark's log
  * define the changes that must be rejected.
  */
final class ChainEdits(life: Life, world: ChainWorld, spark: SimulatedSpark, changes: Seq[ChainEdits.Change]) {

  import ChainEdits._

  private val chance    = life.chance
  private var expected  = Option.empty[Rejection]
  private var situation = Option.empty[String]

  /** Begins a run. Changes the legs at random, and determines the error that the run must raise. */
  def startRun(): Unit = {
    expected = None
    situation = None
    if (life.isCalm) world.present = world.attached
    else if (isStarted && changes.nonEmpty && chance.oneIn(3)) change(chance.oneOf(changes))
    expected = expected.orElse(needed)
  }

  /** Requires that no error was expected, and records the situation of the run. The caller calls this method after a
    * run without failure.
    *
    * @param isAlone
    *   true if no other driver ran at the same time, so this driver has planned every batch
    */
  def ended(isAlone: Boolean): Unit = {
    expected.filter(_ => isAlone).foreach { rejection =>
      throw new Violation(
        s"the query must fail but continues: ${rejection.situation}, ${rejection.texts.mkString(", ")}"
      )
    }
    if (expected.isEmpty) situation.foreach(life.met)
  }

  /** True if the failure of the query is expected. */
  def explains(error: SpliceException): Boolean = {
    val found = expected.filter { rejection =>
      error.getCondition == rejection.condition && rejection.texts.exists(error.getMessage.contains(_))
    }
    found.foreach(rejection => life.met(rejection.situation))
    found.nonEmpty
  }

  /** Restores the legs of the chain if an error was expected. The caller calls this method after every run. */
  def endRun(): Unit = if (expected.nonEmpty) world.present = world.attached

  private def change(what: Change): Unit = what match {
    case Change.Return => world.present = world.attached
    case Change.Append => world.held.foreach(append)
    case Change.Remove =>
      val some = world.present.dropRight(1).filter(isRecorded)
      if (some.nonEmpty) remove(chance.oneOf(some))
  }

  private def remove(name: String): Unit = {
    life.note(s"the start has no leg $name")
    world.present = world.present.filterNot(_ == name)
    if (!hasEnded(name))
      expected = Some(Rejection(Changed, Seq(s"'$name' has not ended"), "a leg that has not ended is removed"))
    else if (world.counting(name).exists(!isBegun(_)))
      expected = Some(Rejection(Changed, Seq(s"counts the rows of leg '$name'"), "a leg that a rule counts is removed"))
    else situation = Some("an ended leg is removed")
  }

  private def append(name: String): Unit = {
    life.note(s"the start has one more leg, $name")
    val late = world.names.dropWhile(_ != name).exists(isBegun)
    if (late) {
      world.present = world.names.filter(leg => leg == name || world.present.contains(leg))
      expected = Some(Rejection(Changed, Seq("legs was"), "a leg is appended too late"))
    } else {
      world.attach(name)
      situation = Some("a leg is appended")
    }
  }

  /** Expected error for removed legs with rows that the next run reads. */
  private def needed: Option[Rejection] = {
    val missing = world.attached.filterNot(world.present.contains).filter(isUnread)
    Option.when(missing.nonEmpty)(
      Rejection("SPLICE_HYBRID.REMOVED_LEG", missing.map(name => s"'$name'"), "a leg that a batch needs is removed")
    )
  }

  private def isUnread(name: String): Boolean = {
    val from = spark.resumesFrom.orElse(world.decided("initial").flatMap(_.lift(1)))
    val at   = from.flatMap(Json.read).flatMap(Json.field(_, "legs")).flatMap(Json.field(_, name)).map(Json.write)
    val ends = for {
      next  <- world.names
      lines <- world.scope(next).get("hand-over-00000000")
      head  <- lines.headOption.flatMap(Json.read) if head.path("after").asText == name
      end   <- lines.lift(1)
    } yield end
    !ends.exists(at.contains)
  }

  private def isStarted: Boolean = world.decided("chain-00000000").nonEmpty

  private def isRecorded(name: String): Boolean =
    Iterator.from(0).map(n => world.decided(f"chain-$n%08d")).takeWhile(_.nonEmpty).flatten.toSeq.lastOption
      .exists(_.exists(_.contains(s"\"name\":\"$name\"")))

  private def isBegun(name: String): Boolean = world.scope(name).get("hand-over-00000000").nonEmpty

  private def hasEnded(name: String): Boolean = world.names.dropWhile(_ != name).drop(1).exists(isBegun)
}

object ChainEdits {

  private val Changed = "SPLICE_CHECKPOINT.SOURCE_CHANGED"

  /** @param texts alternative texts; the error has one of these texts */
  final private case class Rejection(condition: String, texts: Seq[String], situation: String)

  /** Kind of change at a start. */
  sealed trait Change extends Product with Serializable

  object Change {
    case object Append extends Change
    case object Remove extends Change
    case object Return extends Change

    val all: Seq[Change] = Seq(Append, Remove, Remove, Return)
  }
}
