// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

final class QuotaSuite extends AnyFunSuite {

  private val Much = Double.MaxValue

  private def share(rows: Double, bytes: Double)(backlogs: (Long, Double)*): Seq[Long] =
    Quota(rows, bytes).share(backlogs.map { case (n, rate) => Backlog(n, 10, rate) }.toIndexedSeq).toSeq

  test("equal rates get equal shares, and unused shares are given to the other partitions") {
    assert(share(30, Much)(100L -> 1, 100L -> 1, 100L -> 1) == Seq(10, 10, 10))
    assert(share(30, Much)(2L -> 1, 100L -> 1, 100L -> 1) == Seq(2, 14, 14))
    assert(share(400, Much)(2L -> 1, 100L -> 1, 100L -> 1) == Seq(2, 100, 100))
  }

  test("a rate of 3 gets three times as many rows, after every partition has a row") {
    assert(share(42, Much)(100L -> 1, 100L -> 3) == Seq(11, 31))
  }

  test("with fewer rows than backlogs, the first backlogs get one row each") {
    assert(share(2, Much)(5L -> 1, 5L -> 1, 5L -> 1) == Seq(1, 1, 0))
  }

  test("bytes limit a batch like rows, but the first row always fits") {
    assert(share(Much, 100)(50L -> 1, 50L -> 1) == Seq(5, 5))
    assert(share(Much, 3)(50L -> 1, 50L -> 1) == Seq(1, 0))
    assert(share(4, 100)(50L -> 1, 50L -> 1) == Seq(2, 2))
  }

  test("for any backlogs, the quota is kept and used up, and no share exceeds its backlog") {
    (1L to 500L).foreach { seed =>
      val random   = new Random(seed)
      val backlogs = IndexedSeq.fill(1 + random.nextInt(40))(
        Backlog(1L + random.nextInt(1000), 1.0 + random.nextInt(500), 0.1 + random.nextInt(50))
      )
      val quota = Quota(
        if (random.nextBoolean()) Much else 1.0 + random.nextInt(20000),
        if (random.nextBoolean()) Much else 1.0 + random.nextInt(2000000)
      )
      val parts = quota.share(backlogs)
      val bytes = backlogs.indices.map(i => parts(i) * backlogs(i).rowBytes).sum
      val hint  = s"seed $seed"
      assert(backlogs.indices.forall(i => parts(i) >= 0 && parts(i) <= backlogs(i).rows), hint)
      assert(parts.sum <= quota.rows, hint)
      assert(bytes <= quota.bytes + 1e-6 || parts.sum == 1, hint)
      assert(parts.head >= 1, hint)
      // Backlogs without a share come after all backlogs with a share.
      assert(!parts.toSeq.dropWhile(_ > 0).exists(_ > 0), hint)
      if (parts.forall(_ > 0)) {
        val more = backlogs.indices.filter(i => parts(i) < backlogs(i).rows)
        val left = Quota(quota.rows - parts.sum, quota.bytes - bytes)
        assert(more.isEmpty || left.rows < more.size + 1 || left.bytes < more.map(backlogs(_).rowBytes).sum + 500, hint)
      }
    }
  }
}
