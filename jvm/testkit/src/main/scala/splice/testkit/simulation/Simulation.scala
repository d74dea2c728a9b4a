// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

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
  def run(seeds: Range): Seq[HistoryResult] = {
    val workers = Executors.newFixedThreadPool(Runtime.getRuntime.availableProcessors)
    try {
      val chunks = seeds.grouped(Simulation.Chunk).map { chunk =>
        new Callable[Seq[HistoryResult]] { override def call(): Seq[HistoryResult] = chunk.map(s => live(s.toLong)) }
      }
      workers.invokeAll(chunks.toSeq.asJava).asScala.toSeq.flatMap(_.get)
    } finally { val _ = workers.shutdownNow() }
  }

  /** First failed scenario, if any. Later seeds may be skipped. */
  def firstFailure(seeds: Range): Option[HistoryResult] =
    seeds.grouped(Simulation.Chunk * 2).flatMap(chunk => run(chunk).find(_.failure.isDefined)).nextOption()

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
  val Chunk = 25

  def isFailure(failure: Throwable): Boolean = failure match {
    case _: VirtualMachineError  => false
    case _: InterruptedException => false
    case _                       => true
  }
}
