// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Replaced tasks of a continuous query, with a model of Spark's epochs. */
final class EpochGuardSuite extends AnyFunSuite {

  /** Model of one partition in the continuous mode of Spark 4.2 (`ContinuousExecution`, `EpochCoordinator`). The sink
    * keeps the rows of an epoch when Spark commits the epoch. Each offset is the number of earlier rows.
    */
  final private class Model(random: Random) {

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
      val _  = offsets.getOrElseUpdate(epoch, at)
      waiting = Some(begun until read)
      begun = read
    }

    private def commit(rows: Range): Unit = {
      kept ++= rows
      commits += epoch
      committed = offsets(epoch)
      guard.committed()
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

    /** Before continuous mode starts, another trigger must read each uncommitted batch. The sink then has the rows of
      * these batches.
      */
    private def crash(): Unit = {
      guard = new EpochGuard
      val last = commits.lastOption.fold(0)(offsets)
      offsets.collect { case (number, at) if commits.lastOption.forall(_ < number) && at != last => number -> at }
        .foreach { case (number, at) =>
          kept ++= last until at
          commits += number
        }
      start()
    }
  }

  test("no row is skipped for any order of replaced tasks and kills of the query") {
    val replaced = (1L to 2000L).map { seed =>
      val model = new Model(new Random(seed))
      model.start()
      withClue(s"seed $seed: ")((0 until 200).foreach(_ => model.step()))
      model.replaced
    }
    assert(replaced.sum > 10000)
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
