// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}
import org.scalatest.{BeforeAndAfterAllConfigMap, ConfigMap}

/** Random scenarios of queries over streams that move between simulated clusters.
  *
  * `SEED=42` runs one scenario, and `SEED=1..100000` runs a range. A running sbt server needs an argument instead, for
  * example `project/sbt --client "dynamicKafka/testOnly *DynamicLifeSuite -- -Dsplice.seed=42"`.
  */
final class DynamicLifeSuite extends AnyFunSuite with BeforeAndAfterAllConfigMap with Eventually {

  private var seeds = sys.env.get("SEED").fold[Range](1 to DynamicLifeSuite.Lives)(DynamicLives.range)

  override def beforeAll(configuration: ConfigMap): Unit =
    configuration.get("splice.seed").foreach(text => seeds = DynamicLives.range(text.toString))

  test("every record of the streams is read once in every scenario") {
    val lives   = new DynamicLives()
    val results = lives.run(seeds)
    lives.failures(results).foreach(fail(_))
    val cpu = ProcessHandle.current.info.totalCpuDuration.map[Long](_.toMillis).orElse(0L) / results.size
    info(
      s"${results.size} lives, ${results.map(_.kills).sum} kills, ${results.map(_.end.get.rows.toLong).sum} rows, " +
        s"$cpu ms of CPU time per scenario"
    )
    val met = results.flatMap(_.end.get.marks).groupMapReduce(identity)(_ => 1)(_ + _).withDefaultValue(0)
    met.toSeq.sorted.foreach { case (situation, count) => info(s"$situation: $count") }
    if (seeds.size >= DynamicLifeSuite.Lives) {
      val few = LifeSituations.least(DynamicLifeSuite.Lives).collect {
        case (situation, least) if met(situation) < least =>
          s"$situation: ${met(situation)} of at least $least"
      }
      assert(few.isEmpty, "situations are too rare")
    }
    eventually(timeout(Span(20, Seconds)))(assert(threads.isEmpty, "threads of ended scenarios"))
  }

  /** Running threads of Splice. */
  private def threads: Seq[String] =
    Thread.getAllStackTraces.keySet.asScala.toSeq.filter(_.isAlive).map(_.getName).filter(_.contains("life-"))
}

private object DynamicLifeSuite {
  val Lives = 10000
}
