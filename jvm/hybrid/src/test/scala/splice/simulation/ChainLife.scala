// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import scala.annotation.tailrec

import splice.files.split.FileRange
import splice.hybrid.LegRange
import splice.kafka.KafkaErrors
import splice.source._
import splice.testkit.simulation._

/** One life of a query over a chain: starts, kills, stops and restarts, then a calm end at which the books must balance. */
final class ChainLife(life: Life, faults: Faults) {

  private val chance            = life.chance
  private val asynchronous      = chance.oneIn(5)
  private val durable           = new SimulatedSideLog(life)
  private val world: ChainWorld = new ChainWorld(life, faults, durable, () => spark.lastCommitted)
  private lazy val spark = new SimulatedSpark(life, subject, () => faults.sideLog(durable), asynchronous, retained)
  private def retained   = if (life.seed % 4 == 0) 4 else 100
  private val moves      = new ChainMoves(life, world, spark)
  private val oracle     = new ChainOracle(world, moves)
  private val marks      = scala.collection.mutable.Set.empty[String]

  def live(): HistoryEnd =
    try {
      moves.begin()
      val refused = runs(chance.between(3, 7)).orElse(end())
      oracle.verify(spark.sink.rows.toSeq, spark.settled.toSet, refused)
      if (world.scope("live").keys("fill-").nonEmpty) marks += "holes are filled"
      marks += s"holes ${world.onHoles}"
      marks += s"shape ${world.shape}" += (if (asynchronous) "asynchronous" else "synchronous")
      marks ++= refused.map(e => s"refused ${e.getCondition}")
      if (staleAnswers > 0) marks += "a broker is behind"
      spark.lastLogged.foreach(at => marks += s"ended in ${world.position(at).leg}")
      HistoryEnd(spark.sink.size, marks.toSet)
    } finally world.legs.values.foreach(_.close())

  /** Runs until the life is long enough, or an error ends it. */
  @tailrec private def runs(left: Int): Option[SpliceException] =
    if (left <= 0 && life.crashPoints.nonEmpty && life.steps >= 20) None
    else
      run(trigger) match {
        case refused @ Some(_) => refused
        case None              =>
          life.pause()
          runs(left - 1)
      }

  /** Nothing moves any more: whatever is there must come out. */
  private def end(): Option[SpliceException] = {
    moves.settle()
    life.calm()
    // The first run of a chain that reads one log twice may end in the leg before the last.
    run(
      SimulatedTrigger.AvailableNow
    ).orElse(run(SimulatedTrigger.AvailableNow)).orElse(run(SimulatedTrigger.ProcessingTime(2)))
  }

  /** One run; what ends the query for good. A kill, or a broker that is away, is followed by a restart. */
  private def run(trigger: SimulatedTrigger): Option[SpliceException] = {
    val visible = if (trigger == SimulatedTrigger.AvailableNow) oracle.visible else Set.empty[Long]
    val behind  = staleAnswers
    moves.startRun()
    try {
      spark.run(trigger, chance.between(1, 4))
      // Nobody has to know before the next look that a topic is made anew, or what a broker that is behind does not know.
      if (trigger == SimulatedTrigger.AvailableNow && staleAnswers == behind && !moves.recreatedJustNow)
        checkAvailable(visible)
      None
    } catch {
      case _: Crash =>
        marks += s"killed in ${spark.lastLogged.fold("no leg")(at => world.position(at).leg)}"
        None
      case away: SpliceException if KafkaErrors.isUnreachable(away) =>
        marks += "broker away"
        None
      case refused: SpliceException => Some(refused)
    }
  }

  private def trigger: SimulatedTrigger = chance.between(1, 6) match {
    case 1 | 2 => SimulatedTrigger.AvailableNow
    case 3     => SimulatedTrigger.Once
    case _     => SimulatedTrigger.ProcessingTime(chance.between(1, 8))
  }

  private def checkAvailable(visible: Set[Long]): Unit = {
    marks += "AvailableNow ended"
    val unread = visible & oracle.required -- spark.sink.rows
    if (unread.nonEmpty) throw new Violation(s"AvailableNow has left unread ${unread.toSeq.sorted.mkString(",")}")
    val leg = spark.lastLogged.map(world.position(_).leg)
    if (!Set[Shape](Shape.Twice, Shape.Relay)(world.shape) && !leg.contains("live"))
      throw new Violation(s"AvailableNow has ended in leg $leg")
  }

  private def staleAnswers: Int = world.names.flatMap(world.logs).map(_.behind).sum

  private object subject extends Subject {

    override def source(): Source[_ <: Position] = world.source()

    override def rows(run: String, task: TaskRanges): TaskRows = {
      val ranges = task.ranges.map(_.asInstanceOf[LegRange])
      new RowsInTurn(ranges.map(_.leg).distinct.iterator.map { leg => () =>
        world.legs(leg).rows(run, task.copy(ranges = ranges.filter(_.leg == leg).map(_.range)))
      })
    }

    override def killed(): Unit = world.legs.values.foreach(_.killed())

    // Who says that rows may be lost may lose them between two readings; and no reader can tell that a topic is made anew
    // while the query runs, until somebody looks.
    override def same: SameRows = (first, again) =>
      SameRows.exactly(first, again) || moves.recreatedJustNow ||
        (!world.strict && (first.diff(again).isEmpty || again.diff(first).isEmpty))

    override def describe(range: SplitRange): String = range match {
      case LegRange(leg, files: FileRange) => s"$leg/${files.splitId} ${files.blocks.mkString("+")}"
      case LegRange(leg, other)            => s"$leg/$other"
      case other                           => other.toString
    }
  }
}
