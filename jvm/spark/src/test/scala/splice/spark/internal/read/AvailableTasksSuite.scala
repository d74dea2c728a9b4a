// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.internal.stream.CoordinatorFactory

/** The number of tasks that Spark runs at a time, which is the number of slots. */
final class AvailableTasksSuite extends AnyFunSuite {

  private def tasks(cores: Int, settings: (String, String)*): Int =
    CoordinatorFactory.tasks(cores, new SparkConf(false).setAll(settings))

  test("a task has one core unless spark.task.cpus is set") {
    assert(tasks(8) == 8 && tasks(8, "spark.executor.cores" -> "3") == 8)
    assert(tasks(8, "spark.task.cpus" -> "2") == 4 && tasks(8, "spark.task.cpus" -> "3") == 2)
  }

  test("a task does not use cores of two executors") {
    val own = Seq("spark.master" -> "yarn", "spark.task.cpus" -> "2")
    assert(tasks(15, own :+ "spark.executor.cores" -> "5": _*) == 6)
    assert(tasks(16, own :+ "spark.executor.cores" -> "4": _*) == 8)
    // Before the first executor is registered, Spark returns 2 cores.
    assert(tasks(2, own :+ "spark.executor.cores" -> "5": _*) == 1)
  }

  test("the executor of local mode has all cores") {
    Seq("local", "local[8]", "local[*]", "local[8,2]").foreach { master =>
      val own = Seq("spark.master" -> master, "spark.executor.cores" -> "3", "spark.task.cpus" -> "2")
      assert(tasks(8, own: _*) == 4, master)
    }
    val cluster =
      Seq("spark.master" -> "local-cluster[2,3,1024]", "spark.executor.cores" -> "3", "spark.task.cpus" -> "2")
    assert(tasks(6, cluster: _*) == 2)
  }

  test("there is at least one slot") {
    assert(tasks(1, "spark.task.cpus" -> "4") == 1)
    assert(tasks(3, "spark.executor.cores" -> "1", "spark.task.cpus" -> "2") == 1)
  }

  test("spark.default.parallelism is a number of tasks") {
    assert(tasks(10, "spark.default.parallelism" -> "10", "spark.task.cpus" -> "2") == 10)
  }
}
