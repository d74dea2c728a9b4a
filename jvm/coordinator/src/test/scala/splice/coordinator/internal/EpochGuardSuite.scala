// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import scala.collection.mutable
import scala.util.Random

import org.scalatest.exceptions.TestFailedException
import org.scalatest.funsuite.AnyFunSuite

/** Replaced tasks of a continuous query, with a model of Spark's epochs. */
final class EpochGuardSuite extends AnyFunSuite {

  /** Model of one partition in the continuous mode of Spark 4.2 (`ContinuousExecution`, `EpochCoordinator`). The sink
    * keeps the rows of an epoch when Spark commits the epoch. Each offset is the number of earlier rows.
    *
    * @param removesEnds
    *   true if the start of a run removes the logged ends of uncommitted epochs; otherwise the model has a fault
    * @param awaitsCommits
    *   true if tasks are replaced only while each epoch with an end is committed; otherwise the model has a fault
    */
  final private class Model(random: Random, removesEnds: Boolean = true, awaitsCommits: Boolean = true) {

    val offsets: mutable.Map[Long, Int] = mutable.Map.empty
    val commits: mutable.TreeSet[Long]  = mutable.TreeSet.empty
    private val kept                    = mutable.BitSet.empty
    private var guard                   = new EpochGuard
    private var epoch                   = 0L
    private var begun                   = 0
    private var read                    = 0
    private var committed               = 0
    private var waiting: Option[Range]  = None
    private var isReplaced              = false
    var replaced                        = 0

    def start(): Unit = {
      epoch = commits.lastOption.fold(0L)(_ + 1)
      committed = commits.lastOption.fold(0)(offsets)
      // The sink has all rows before the start, so no row is skipped.
      (0 until committed).foreach(row => assert(kept(row), s"row $row is skipped by epoch $epoch"))
      begun = committed
      read = committed
      waiting = None
      isReplaced = false
      guard.begin()
      guard.planned()
    }

    /** Spark keeps the first offset of each epoch number. */
    private def end(): Unit = {
      val at = if (guard.ended()) read else committed
      if (!awaitsCommits) guard.committed()
      val _ = offsets.getOrElseUpdate(epoch, at)
      waiting = Some(begun until read)
      begun = read
    }

    private def commit(rows: Range): Unit = {
      kept ++= rows
      commits += epoch
      committed = offsets(epoch)
      if (awaitsCommits) guard.committed()
      epoch += 1
      waiting = None
    }

    def step(): Unit = random.nextInt(if (isReplaced) 3 else 6) match {
      case 0 if waiting.isEmpty => end()
      case 0 | 1                => waiting.foreach(commit)
      // Spark ignores messages of the old tasks from now on.
      case 2 if isReplaced => start()
      case 2 | 3           => read += random.nextInt(4)
      case 4               =>
        if (guard.replace(wanted = true)) {
          isReplaced = true
          replaced += 1
        }
      case _ => if (random.nextInt(10) == 0) crash()
    }

    /** The next run removes the logged ends of all uncommitted epochs (`Epochs`). */
    private def crash(): Unit = {
      guard = new EpochGuard
      if (removesEnds) offsets --= uncommitted
      start()
    }

    private def uncommitted: Seq[Long] =
      offsets.keysIterator.filter(number => commits.lastOption.forall(_ < number)).toSeq
  }

  /** Runs a model for each seed, and returns the number of replacements of tasks. */
  private def replacements(model: Random => Model): Int = (1L to 2000L).map { seed =>
    val run = model(new Random(seed))
    withClue(s"seed $seed: ") {
      run.start()
      (0 until 200).foreach(_ => run.step())
    }
    run.replaced
  }.sum

  private def assertSkips(model: Random => Model): Unit = {
    val found = intercept[TestFailedException](replacements(model))
    assert(found.getMessage.matches("(?s)seed \\d+: .*row \\d+ is skipped by epoch \\d+.*"))
  }

  test("no row is skipped for any order of replaced tasks and kills of the query") {
    assert(replacements(new Model(_)) > 10000)
  }

  test("the model finds a skipped row if a start keeps the logged ends of uncommitted epochs") {
    assertSkips(new Model(_, removesEnds = false))
  }

  test("the model finds a skipped row if tasks are replaced while an epoch is uncommitted") {
    assertSkips(new Model(_, awaitsCommits = false))
  }

  test("tasks are not replaced before they are planned, while an epoch is not committed, or without a reason") {
    val guard = new EpochGuard
    guard.begin()
    assert(!guard.replace(wanted = true))
    guard.planned()
    assert(!guard.replace(wanted = true), "the tasks have not committed an epoch")
    assert(guard.ended() && !guard.replace(wanted = true))
    guard.committed()
    assert(!guard.replace(wanted = false) && guard.replace(wanted = true))
    assert(!guard.ended() && !guard.replace(wanted = true))
    guard.begin()
    guard.planned()
    assert(!guard.replace(wanted = true), "the new tasks have not committed an epoch")
    assert(guard.ended())
  }
}
