// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.admission.{Admission, Quota, RecordSizes}
import splice.kafka.internal.options.AdmissionPolicy
import splice.source.LogPartition

/** Tests of batches of clusters with separate limits. */
final class ClusterQuotasSuite extends AnyFunSuite {

  private type Ready = SortedMap[LogPartition, (Long, Long)]

  private def cluster(p: LogPartition): String = p.topic.takeWhile(_ != '/')

  private def quotas(policy: AdmissionPolicy = AdmissionPolicy.Lag, sizes: RecordSizes = new RecordSizes) =
    new ClusterQuotas(new Admission(policy, sizes), sizes, cluster)

  private def rows(most: Double): Quota = Quota.Unlimited.copy(rows = most)

  private def backlog(of: (String, Long)*): Ready =
    SortedMap.from(of.map { case (cluster, rows) => LogPartition(s"$cluster/t", 0) -> (0L -> rows) })

  private def share(batch: Quota, own: Map[String, Quota], ready: Ready): Map[String, Long] =
    quotas()(batch, own, ready).map { case (p, until) => cluster(p) -> until }

  test("without a limit of the batch only the clusters with a limit are limited") {
    assert(share(Quota.Unlimited, Map("a" -> rows(7)), backlog("a" -> 100, "b" -> 100)) == Map("a" -> 7, "b" -> 100))
    assert(share(Quota.Unlimited, Map("a" -> rows(7)), backlog("a" -> 5, "b" -> 100)) == Map("a" -> 5, "b" -> 100))
  }

  test("the other clusters get the unused share of a limited cluster") {
    val own = Map("a" -> rows(10), "b" -> rows(30))
    assert(share(rows(100), own, backlog("a" -> 1000, "b" -> 1000, "c" -> 1000)) ==
      Map("a" -> 10, "b" -> 30, "c" -> 60))
    assert(share(rows(100), own, backlog("a" -> 1000, "b" -> 1000, "c" -> 5)) == Map("a" -> 10, "b" -> 30, "c" -> 5))
    // No limit of a cluster is reached.
    assert(share(rows(30), own, backlog("a" -> 10, "b" -> 10, "c" -> 10)) == Map("a" -> 10, "b" -> 10, "c" -> 10))
  }

  test("the limit of a cluster applies even if Spark's formula gives each partition a row") {
    val ready = SortedMap.from((0 until 10).map(p => LogPartition("a/t", p) -> (0L -> 5L)))
    assert(quotas()(Quota.Unlimited, Map("a" -> rows(3)), ready).values.sum == 3)
  }

  test("a limit that is smaller than a record makes progress, one row per batch") {
    val sizes = new RecordSizes
    sizes.learn("a/t", 10, 10000)
    val bytes = Quota.Unlimited.copy(bytes = 1)
    val ready = backlog("a" -> 3, "b" -> 3)
    assert(quotas(sizes = sizes)(Quota.Unlimited, Map("a" -> bytes), ready).values.toSeq == Seq(1, 3))
  }

  test(
    "the totals of a batch and of each cluster are maximal within their limits, and all rows are read"
  ) {
    (1L to 300L).foreach { seed =>
      val random = new Random(seed)
      val all    = for {
        c <- 0 to random.nextInt(4)
        t <- 0 to random.nextInt(2)
        p <- 0 to random.nextInt(4)
      } yield LogPartition(s"c$c/t$t", p)
      val names = all.map(cluster).distinct
      val ends  = SortedMap.from(all.map(_ -> random.nextInt(60).toLong))
      val own   = names.filter(_ => random.nextInt(3) > 0).map(_ -> (1L + random.nextInt(15))).toMap
      val batch = Option.when(random.nextBoolean())(1L + random.nextInt(30))
      val share = quotas(AdmissionPolicy.all(random.nextInt(2)))

      def left(from: Map[LogPartition, Long]) = from.map { case (p, at) => p -> (ends(p) - at) }.filter(_._2 > 0)
      var from                                = all.map(_ -> 0L).toMap
      var waits                               = Map.empty[LogPartition, Int]
      var round                               = 0
      while (left(from).nonEmpty) {
        round += 1
        val behind = left(from)
        val ready  = SortedMap.from(behind.map { case (p, _) => p -> (from(p) -> ends(p)) })
        val until  = share(
          batch.fold(Quota.Unlimited)(n => rows(n.toDouble)),
          own.map { case (name, n) => name -> rows(n.toDouble) },
          ready
        )
        val hint = s"seed $seed, round $round"
        assert(until.keySet == ready.keySet && until.forall { case (p, at) => at >= from(p) && at <= ends(p) }, hint)
        val read                                         = until.map { case (p, at) => p -> (at - from(p)) }
        def of(c: String, rows: Map[LogPartition, Long]) = rows.collect { case (p, n) if cluster(p) == c => n }.sum
        names.foreach(c => assert(own.get(c).forall(of(c, read) <= _), hint))
        val possible = names.map(c => math.min(of(c, behind), own.getOrElse(c, Long.MaxValue))).sum
        assert(read.values.sum == math.min(possible, batch.getOrElse(Long.MaxValue)), hint)
        waits = behind.map { case (p, _) => p -> (if (read(p) > 0) 0 else waits.getOrElse(p, 0) + 1) }
        assert(waits.values.forall(_ <= 2 * all.size), s"$hint: ${waits.values.max} batches without a row")
        from = from ++ until
      }
    }
  }

  test("estimated bytes of a batch and of each cluster are within their limits, except single rows") {
    (1L to 300L).foreach { seed =>
      val random = new Random(seed)
      val sizes  = new RecordSizes
      val all    = for (c <- 0 to 2; t <- 0 to 2; p <- 0 to random.nextInt(3)) yield LogPartition(s"c$c/t$t", p)
      val bytes  = all.map(_.topic).distinct.map(topic => topic -> (1L + random.nextInt(1000))).toMap
      bytes.foreach { case (topic, each) => sizes.learn(topic, 10, 10 * each) }
      val ends  = all.map(_ -> (1L + random.nextInt(40))).toMap
      val own   = Seq("c0", "c1").map(_ -> (1L + random.nextInt(5000))).toMap
      val batch = Option.when(random.nextBoolean())(1L + random.nextInt(8000))

      def most(bytes: Long): Quota = Quota.Unlimited.copy(bytes = bytes.toDouble)
      var from                     = all.map(_ -> 0L).toMap
      var waits                    = Map.empty[LogPartition, Int]
      while (from != ends) {
        val ready = SortedMap.from(from.filter { case (p, at) => at < ends(p) }.map { case (p, at) =>
          p -> (at -> ends(p))
        })
        val until = quotas(sizes = sizes)(
          batch.fold(Quota.Unlimited)(most),
          own.map { case (name, limit) => name -> most(limit) },
          ready
        )
        val read                                  = until.toSeq.map { case (p, at) => p -> (at - from(p)) }
        def size(some: Seq[(LogPartition, Long)]) = some.map { case (p, rows) => rows * bytes(p.topic) }.sum
        own.foreach { case (name, limit) =>
          val some = read.filter(r => cluster(r._1) == name)
          assert(size(some) <= limit || some.map(_._2).sum == 1, s"seed $seed, $name")
        }
        // Each of two limited clusters may exceed the limit by one row. The other clusters together may exceed the
        // limit by one row.
        assert(batch.forall(size(read) <= _ + 3 * bytes.values.max), s"seed $seed")
        assert(read.exists(_._2 > 0), s"seed $seed")
        waits = read.map { case (p, rows) => p -> (if (rows > 0) 0 else waits.getOrElse(p, 0) + 1) }.toMap
        assert(waits.values.forall(_ <= 3 * all.size), s"seed $seed: ${waits.values.max} batches without a row")
        from = from ++ until
      }
    }
  }
}
