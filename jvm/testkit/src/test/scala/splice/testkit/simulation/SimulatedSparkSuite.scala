// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.io.IOException

import scala.annotation.tailrec

import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, Limits, Position, Source, SplitEnumerator, SplitRange, TaskRanges}
import splice.testkit.internal.simulation.{ForgetfulSideLog, RowIds, SeedBudget, SeededSuite, SimulatedCluster}

/** Tests of the simulation with a minimal source. A correct source passes, and each injected fault is detected. */
final class SimulatedSparkSuite extends SeededSuite {

  private val Topic = "t"

  private type Make = (SimulatedCluster, Limits.Limited) => LogSource

  private val honest: Make = (cluster, limits) => new LogSource(cluster, Topic, limits)

  private def live(life: Life, make: Make, log: SideLog => SideLog): HistoryEnd = {
    val ids     = new RowIds
    val cluster = new SimulatedCluster("c", life, ids)
    val topic   = cluster.create(Topic, life.chance.between(1, 3))
    life.whenever(cluster.produce(Topic, life.chance.between(0, topic.partitions.size - 1), life.chance.between(1, 4)))
    life.whenever(if (topic.partitions.size < 5) {
      cluster.grow(Topic)
      cluster.produce(Topic, topic.partitions.size - 1, 2)
    })
    life.whenever(cluster.openTransactions.headOption match {
      case Some(open) => cluster.end(open, commit = !life.chance.oneIn(3))
      case None       => cluster.begin(Topic, Seq(0), 2)
    })
    val limits       = if (life.chance.oneIn(2)) Limits.Limited(rows = Some(4)) else Limits.NotSet
    val asynchronous = life.chance.oneIn(4)
    val subject      = new Subject {
      override def source(): Source[_ <: Position]               = make(cluster, limits)
      override def rows(run: String, task: TaskRanges): TaskRows = new LogRows(cluster, Topic, task)
      override def killed(): Unit                                = ()
    }
    val durable = new SimulatedSideLog(life)
    val spark   = new SimulatedSpark(life, subject, () => log(durable.opened), asynchronous)

    // Rows that are removed before the query has logged their partition do not count as lost.
    val excused         = scala.collection.mutable.Set.empty[Long]
    def isKnown(p: Int) = spark.lastLogged.exists(_.contains(s"\"$p\":"))

    // Retention mostly removes rows that were read. Unread rows are removed only in scenarios that are long enough.
    life.whenever {
      val p    = life.chance.between(0, topic.partitions.size - 1)
      val log  = topic.partitions(p)
      val read = spark.settled.toSet
      val grim = life.crashPoints.nonEmpty && life.steps >= 20 && life.chance.oneIn(8)
      if (grim || log.all.exists(_.id.exists(read))) {
        if (!isKnown(p)) excused ++= log.at(log.earliest).flatMap(_.id)
        cluster.trim(Topic, p, log.earliest + 1)
      }
    }

    @tailrec def runs(left: Int): Unit = if (left > 0 || life.crashPoints.isEmpty || life.steps < 20) {
      try
        spark.run(
          if (life.chance.oneIn(3) && !asynchronous) SimulatedTrigger.AvailableNow
          else SimulatedTrigger.ProcessingTime(life.chance.between(1, 6)),
          life.chance.between(1, 4)
        )
      catch { case _: Crash | _: IOException => }
      life.pause()
      runs(left - 1)
    }

    val refused =
      try {
        runs(4)
        cluster.openTransactions.foreach(cluster.end(_, commit = true))
        life.calm()
        spark.run(SimulatedTrigger.AvailableNow, 2)
        None
      } catch { case gone: RowsGone => Some(gone) }
    val out     = spark.sink.rows.toSeq
    val missing = ids.all.toSet -- out -- cluster.uncommitted
    if (out.distinct.size != out.size) throw new Violation(s"doubled: ${out.diff(out.distinct)}")
    if (refused.isEmpty && (missing -- excused).nonEmpty) throw new Violation(s"missing: $missing")
    if (refused.isDefined && cluster.removed.subsetOf(spark.settled.toSet) && cluster.uncommitted.isEmpty)
      throw new Violation(s"rejected without a reason: $refused")
    HistoryEnd(out.size, refused.map(_ => "refused").toSet)
  }

  private def simulation(make: Make, log: SideLog => SideLog = identity) =
    new Simulation("testkit/testOnly *SimulatedSparkSuite, seed %d")(live(_, make, log))

  private def isFound(make: Make, log: SideLog => SideLog = identity): Boolean =
    simulation(make, log).firstFailure(1 to 500).isDefined

  test("a correct source neither loses nor duplicates rows") {
    val all     = simulation(honest)
    val budget  = SeedBudget(1 to 1000, 1 to 300, window = 100)
    val results = all.run(seeds(budget))
    results.find(_.failure.isDefined).foreach(r => fail(all.explain(r)))
    results.find(r => r.crashes.isEmpty || r.steps < 20).foreach(r => fail(all.explain(r)))
    fixed(budget, results).foreach { own =>
      assert(own.flatMap(_.crashes).toSet == CrashPoint.all.toSet, "the driver is killed at every crash point")
      assert(own.exists(_.marks.contains("refused")) && own.count(_.marks.isEmpty) > own.size * 3 / 10)
    }
  }

  test("the same seed produces the same scenario") {
    val seed  = (1L to 100L).find(simulation(honest).live(_).rows > 0).getOrElse(fail("no scenario reads a row"))
    val lives = (1 to 2).map(_ => simulation(honest).live(seed))
    assert(lives.head == lives.last)
  }

  test("detected fault: a later partition begins at the current start of the log") {
    assert(isFound((cluster, limits) =>
      new LogSource(cluster, Topic, limits) {
        override def enumerator(context: EnumeratorContext): SplitEnumerator[LogPosition] = new LogEnumerator(context) {
          override protected def begin(partition: Int): Long = partitions(partition).earliest
        }
      }
    ))
  }

  test("detected fault: the initial offset is in memory only") {
    assert(isFound(honest, new ForgetfulSideLog(_, _ == "initial")))
  }

  test("detected fault: the slots are not in the side log") {
    assert(isFound(honest, new ForgetfulSideLog(_, _.startsWith("slots-"))))
  }

  test("detected fault: a batch is planned up to the current end of the log") {
    assert(isFound((cluster, limits) =>
      new LogSource(cluster, Topic, limits) {
        override def enumerator(context: EnumeratorContext): SplitEnumerator[LogPosition] = new LogEnumerator(context) {
          override def splits(from: LogPosition, until: LogPosition): Seq[SplitRange] =
            super.splits(from, until).collect { case r: SimulatedRange =>
              r.copy(until = partitions(r.partition).stableEnd)
            }
        }
      }
    ))
  }
}
