// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite

/** Tests of the memory shares of consumers in a JVM. */
final class ReadBudgetSuite extends AnyFunSuite {

  private val mib = 1L << 20

  private def demand(
      partitions: Int = 4,
      record: Option[Double] = Some(100),
      set: Option[Long] = None,
      atOnce: Int = 1
  ) =
    ReadDemand(partitions, record, set, atOnce)()

  private def lease(budget: ReadBudget, demand: ReadDemand) = budget.lease(demand)(() => false)

  test("the first consumers have equal shares, one per task") {
    val budget = new ReadBudget(256 * mib, 8)
    val leases = Seq.fill(8)(lease(budget, demand()))
    assert(leases.map(_.limits).distinct.size == 1 && budget.size == 8)
    assert(budget.held == leases.map(_.bytes).sum && budget.held <= 256 * mib)
    leases.foreach(_.release())
    leases.foreach(_.release())
    assert(budget.held == 0 && budget.size == 0)
  }

  test("a task of a source on several clusters opens several consumers") {
    val budget = new ReadBudget(256 * mib, 2)
    val leases = Seq.fill(8)(lease(budget, demand(atOnce = 4)))
    assert(leases.map(_.limits).distinct.size == 1 && budget.held <= 256 * mib)
  }

  test("the smallest value of queries with open consumers applies, else the default") {
    val budget = new ReadBudget(256 * mib, 2)
    assert(budget.total == 256 * mib)
    val large = lease(budget, demand(set = Some(1024 * mib)))
    assert(budget.total == 1024 * mib, "the default does not count as a value of a query")
    val small = lease(budget, demand(set = Some(64 * mib)))
    assert(budget.total == 64 * mib)
    small.release()
    assert(budget.total == 1024 * mib)
    large.release()
    assert(budget.total == 256 * mib)
  }

  test("idle consumers are closed before a share gets smaller than planned") {
    val budget = new ReadBudget(64 * mib, 2)
    val idle   = Iterator.fill(2)(lease(budget, demand(16, Some(10000)))).toList.iterator
    val third  = budget.lease(demand(16, Some(10000))) { () =>
      val some = idle.nextOption()
      some.foreach(_.release())
      some.nonEmpty
    }
    assert(budget.held <= 64 * mib && budget.size == 2)
    assert(third.bytes <= 32 * mib)
  }

  test("more consumers than tasks use the unassigned bytes, and log a warning if these do not suffice") {
    val budget = new ReadBudget(64 * mib, 1)
    val leases = Seq.fill(12)(lease(budget, demand(partitions = 1)))
    assert(leases.map(_.bytes) == leases.map(_.bytes).sorted.reverse)
    assert(leases.map(_.limits.fetchBytes).min >= (16 << 10))
    assert(leases.take(5).map(_.bytes).sum <= 64 * mib)
    assert(budget.isExceeded == budget.held > 64 * mib)
  }

  test("a consumer is reused while its limits are within its share and not far below") {
    val budget            = new ReadBudget(256 * mib, 4)
    val own               = lease(budget, demand(partitions = 4))
    def is(d: ReadDemand) = budget.serves(own, d)
    assert(is(demand(4)) && is(demand(1)), "fewer partitions")
    assert(!is(demand(5)), "more partitions")
    assert(is(demand(4, Some(120))), "records that are a little larger")
    assert(!is(demand(4, Some(100000))), "records that are much larger")
    assert(!is(demand(4, set = Some(128 * mib))), "a smaller budget")
    val others = Seq.fill(3)(lease(budget, demand()))
    assert(is(demand(4)), "as many consumers as tasks")
    val more = lease(budget, demand())
    assert(!is(demand(4)), "one more consumer")
    more.release()
    assert(is(demand(4)))
    (own +: others).foreach(_.release())
    val many  = Seq.fill(63)(lease(budget, demand(4)))
    val small = lease(budget, demand(4))
    assert(budget.serves(small, demand(4)))
    many.foreach(_.release())
    assert(!budget.serves(small, demand(4)), "limits that could be eight times as high")
  }

  test("at most 64 consumers stay open") {
    val budget = new ReadBudget(4096 * mib, 2)
    val some   = Seq.fill(64)(lease(budget, demand(1)))
    assert(!budget.isExceeded && !budget.hasRoom(demand(1)))
    val more = lease(budget, demand(1))
    assert(budget.isExceeded)
    (more +: some).foreach(_.release())
    assert(budget.hasRoom(demand(1)))
  }

  test("the default is an eighth of the heap, between 16 and 512 MiB") {
    assert(ReadBudget.default(1024 * mib) == 128 * mib)
    assert(ReadBudget.default(64 * 1024 * mib) == 512 * mib)
    assert(ReadBudget.default(64 * mib) == 16 * mib)
  }

  test("the number of tasks follows from the configuration") {
    def tasks(settings: (String, String)*) = ReadBudget.tasks(new SparkConf(false).setAll(settings), 16)
    assert(tasks("spark.master" -> "local[3]") == 3 && tasks("spark.master" -> "local[3,2]") == 3)
    assert(tasks("spark.master" -> "local") == 1 && tasks("spark.master" -> "local[*]") == 16 && tasks() == 16)
    assert(tasks("spark.master" -> "yarn") == 1 &&
      tasks("spark.master" -> "k8s://x", "spark.executor.cores" -> "4") == 4)
    assert(tasks("spark.master" -> "spark://x") == 16)
    assert(tasks("spark.master" -> "yarn", "spark.executor.cores" -> "8", "spark.task.cpus" -> "3") == 2)
  }
}
