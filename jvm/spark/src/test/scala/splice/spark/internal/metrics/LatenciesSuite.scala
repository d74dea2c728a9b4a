// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.metrics

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Quantiles of latencies, compared with sorted numbers. */
final class LatenciesSuite extends AnyFunSuite {

  test("quantiles of several tasks together are exact to 0.3 % of rank") {
    val random = new Random(7)
    val tasks  = Seq.fill(4)(Seq.fill(50000)(math.exp(random.nextGaussian() * 2 + 3).toLong))
    val all    = tasks.map { task =>
      val sketch = Latencies.empty()
      task.foreach(sketch.update(_))
      Latencies.of(sketch)
    }
    val sorted = tasks.flatten.sorted
    val found  = Latencies.figures(all)
    Seq("latencyP50Ms" -> 0.5, "latencyP95Ms" -> 0.95, "latencyP99Ms" -> 0.99).foreach { case (name, rank) =>
      def at(r: Double) = sorted((r * sorted.size).toInt)
      val value         = found(name).toLong
      assert(at(rank - 0.004) <= value && value <= at(rank + 0.004), name)
    }
  }

  test("a task that returned no row adds nothing") {
    assert(Latencies.figures(Seq(Latencies.None, Latencies.of(Latencies.empty()))).isEmpty)
  }

  test("a recorder keeps all rows, including rows after a change of its window") {
    val recorder = new LatencyRecorder("query", _ => ())
    (0 until 10).foreach { _ =>
      val now = System.currentTimeMillis()
      recorder.add(now - 5000, now)
      assert(recorder.all.sketch.nonEmpty)
    }
    assert(Latencies.merged(Seq(recorder.all)).getN == 10)
    assert(Latencies.merged(Seq(recorder.recent)).getN <= 1)
  }

  test("rows with runs of equal latencies have the quantiles of all rows") {
    val random   = new Random(8)
    val now      = System.currentTimeMillis()
    val recorder = new LatencyRecorder("query", _ => ())
    val rows     =
      Seq.fill(20000)(Seq.fill(1 + random.nextInt(40))(random.nextInt(1000).toLong % (1 + random.nextInt(900))))
    val runs = rows.zipWithIndex.flatMap { case (run, i) => if (i % 2 == 0) run else run.map(_ => run.head) }
    runs.foreach(latency => recorder.add(now - latency, now))
    val sorted = runs.sorted
    val sketch = Latencies.merged(Seq(recorder.all))
    assert(sketch.getN == runs.size)
    Latencies.quantiles(sketch).values.zip(Seq(0.5, 0.95, 0.99)).foreach { case (value, rank) =>
      def at(r: Double) = sorted((r * sorted.size).toInt)
      assert(at(rank - 0.004) <= value && value <= at(rank + 0.004), rank)
    }
  }
}
