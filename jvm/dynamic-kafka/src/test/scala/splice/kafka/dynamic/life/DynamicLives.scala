// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import scala.util.Try

import splice.kafka.dynamic.life.oracle.LifeWarnings
import splice.kafka.dynamic.life.planted.PlantedFault
import splice.testkit.simulation.{HistoryEnd, Life, LifeSettings, Simulation}

/** Runner of several concurrent scenarios.
  *
  * @param fault
  *   a fault that is planted
  */
final private[life] class DynamicLives(fault: PlantedFault = PlantedFault.None) {

  /** Runs seeds in order. A scenario mostly waits for the threads of its clients. */
  def run(seeds: Seq[Int]): Seq[LifeResult] =
    LifeWarnings.during(Simulation.run(DynamicLives.Threads, seeds)(seed => live(seed.toLong)))

  // A repetition may run client threads in another order, so the first run writes the events.
  private def live(seed: Long): LifeResult = {
    val life = new Life(seed, DynamicLives.Settings, written = true)
    val end  = Try(new DynamicLife(life, fault).live())
    end.failed.foreach { case _: InterruptedException | _: VirtualMachineError => throw end.failed.get; case _ => () }
    LifeResult(seed, end, life.crashPoints.size, if (end.isFailure) life.journal else Nil)
  }

  /** Failures by kind, each with the events of the shortest scenario; None without failures. */
  def failures(results: Seq[LifeResult]): Option[String] = {
    val failed = results.flatMap(result => result.end.failed.toOption.map(result -> _))
    val kinds  = failed.groupBy { case (_, e) => DynamicLives.kind(e.toString) }.toSeq.sortBy(-_._2.size)
    val lines  = kinds.map { case (kind, all) =>
      s"  ${all.size} x $kind, seeds ${all.take(5).map(_._1.seed).mkString(", ")}"
    } ++ kinds.map(_._2.minBy(_._1.events.size)).flatMap { case (life, failure) => shown(life, failure) }
    if (failed.isEmpty) None
    else Some((s"${failed.size} of ${results.size} lives fail:" +: lines).mkString("\n"))
  }

  private def shown(life: LifeResult, failure: Throwable): Seq[String] =
    Seq(s"seed ${life.seed}: $failure") ++ life.events.zipWithIndex.map { case (text, i) => f"  ${i + 1}%4d $text" } ++
      failure.getStackTrace.take(8).map(line => s"      at $line") :+
      s"again: ${DynamicLives.Command.format(life.seed)}"
}

/** Result of a scenario.
  *
  * @param events
  *   all events, if the scenario fails
  */
final private[life] case class LifeResult(seed: Long, end: Try[HistoryEnd], kills: Int, events: Seq[String])

private[life] object DynamicLives {

  /** Settings with few kills and only one driver at a time. */
  val Settings: LifeSettings = LifeSettings(
    moveOneIn = 4,
    crashOneIn = 60,
    crashesAtMost = 4,
    freezesAtMost = 0,
    clockBackOneIn = Int.MaxValue
  )

  /** Command that runs one scenario. */
  private val Command = "project/sbt \"dynamicKafka/testOnly *DynamicLifeSuite -- -Dsplice.seed=%d\""

  /** Number of concurrent scenarios. */
  val Threads: Int = 4 * Runtime.getRuntime.availableProcessors

  /** Text of a failure without names that differ between scenarios. */
  private def kind(failure: String): String =
    failure.replaceAll("^[a-zA-Z.]*: ", "").takeWhile(_ != ':').replaceAll("[0-9]+", "n").take(100)
}
