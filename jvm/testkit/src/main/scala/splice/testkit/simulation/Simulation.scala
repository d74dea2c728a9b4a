// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.time.Duration
import java.util.concurrent.{Callable, Executors}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** Result of one seed. */
final case class HistoryResult(
    seed: Long,
    steps: Int,
    crashes: Seq[CrashPoint],
    rows: Int,
    marks: Set[String],
    failure: Option[Throwable]
)

/** Runs one scenario per seed. Runs a failed scenario again with its steps as text.
  *
  * @param command
  *   command that runs one seed; `%d` is replaced by the seed
  * @param history
  *   runs one scenario; returns the number of rows and the situations
  */
final class Simulation(command: String, settings: LifeSettings = LifeSettings())(history: Life => HistoryEnd) {

  /** Runs seeds on all cores. Returns the results in the order of seeds. */
  def run(seeds: Seq[Int]): Seq[HistoryResult] =
    Simulation.run(Runtime.getRuntime.availableProcessors, seeds)(seed => live(seed.toLong))

  /** First failed scenario, if any. Later seeds may be skipped. */
  def firstFailure(seeds: Seq[Int]): Option[HistoryResult] =
    seeds.grouped(2 * Runtime.getRuntime.availableProcessors).flatMap(run(_).find(_.failure.isDefined)).nextOption()

  /** Runs one seed. */
  def live(seed: Long): HistoryResult = live(new Life(seed, settings))

  /** Description of a failure with the seed, the violation and the steps. */
  def explain(result: HistoryResult): String = {
    val life    = new Life(result.seed, settings, written = true)
    val again   = live(life)
    val failure = again.failure.orElse(result.failure)
    val trace   = failure.toSeq.flatMap(_.getStackTrace.take(12)).map(line => s"      at $line")
    val lines   = mutable.ArrayBuffer(s"seed ${result.seed} fails: ${failure.fold("")(_.toString)}")
    if (again.failure.map(_.toString) != result.failure.map(_.toString))
      lines += s"  (and otherwise the first time: ${result.failure}: the history is not deterministic)"
    lines ++= life.journal.zipWithIndex.map { case (text, i) => f"  ${i + 1}%4d $text" }
    lines ++= trace
    lines += s"  again: ${command.format(result.seed)}"
    lines.mkString("\n")
  }

  private def live(life: Life): HistoryResult = {
    def result(end: HistoryEnd, failure: Option[Throwable]) =
      HistoryResult(life.seed, life.steps, life.crashPoints, end.rows, end.marks, failure)
    try result(history(life), None)
    catch {
      case failure: Throwable if Simulation.isFailure(failure) => result(HistoryEnd(0, Set.empty), Some(failure))
    }
  }
}

/** Result of a successful scenario.
  *
  * @param marks
  *   situations that occurred, so a test can check their coverage
  */
final case class HistoryEnd(rows: Int, marks: Set[String])

private[splice] object Simulation {

  /** Limit of a wait in real time. Each wait ends with its condition, so only a defect takes as long. A thread of a
    * loaded machine waits for a processor for a few seconds at most.
    */
  val Patience: Duration = Duration.ofSeconds(60)

  /** Runs scenarios in the order of seeds, on a number of threads. Returns the results in this order. */
  def run[A](threads: Int, seeds: Seq[Int])(live: Int => A): Seq[A] = {
    val workers = Executors.newFixedThreadPool(threads)
    try {
      val lives = seeds.map(seed => new Callable[A] { override def call(): A = live(seed) })
      workers.invokeAll(lives.asJava).asScala.toSeq.map(_.get)
    } finally { val _ = workers.shutdownNow() }
  }

  def isFailure(failure: Throwable): Boolean = failure match {
    case _: VirtualMachineError  => false
    case _: InterruptedException => false
    case _                       => true
  }
}
