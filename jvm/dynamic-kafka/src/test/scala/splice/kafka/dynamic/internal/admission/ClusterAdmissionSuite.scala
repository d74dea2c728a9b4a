// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.cluster.{ClusterRequest, ClusterResponse}
import splice.kafka.internal.admission.{ProportionalShares, RecordSizes}
import splice.kafka.internal.bounds.Fills
import splice.kafka.internal.options.AdmissionPolicy
import splice.kafka.internal.split.KafkaPosition
import splice.source.{Limits, LogPartition}

/** Tests of batches of several clusters without separate limits. */
final class ClusterAdmissionSuite extends AnyFunSuite {

  private def reach(from: Map[LogPartition, Long], until: Map[LogPartition, Long]): ClusterResponse = ClusterResponse(
    ClusterRequest(KafkaPosition.of(from), Instant.EPOCH),
    KafkaPosition.of(until),
    from.filter { case (p, begin) => until(p) > begin },
    Fills(),
    Map.empty,
    Set.empty,
    Map.empty,
    None,
    SortedMap.empty,
    Map.empty,
    Map.empty,
    SortedSet.empty,
    KafkaPosition.of(from),
    Map.empty
  )

  test("a limit of rows is distributed as if all partitions were on one cluster") {
    (1L to 300L).foreach { seed =>
      val random   = new Random(seed)
      val clusters = Seq("a", "a-b", "b").take(1 + random.nextInt(3)).map { name =>
        val from =
          Map.from((0 to random.nextInt(6)).map(n => LogPartition(s"t${n % 3}", n) -> random.nextInt(9).toLong))
        val until = from.map { case (p, begin) => p -> (begin + random.nextInt(4) * random.nextInt(40)) }
        name -> reach(from, until)
      }
      val rows = 1L + random.nextInt(150)
      val all  = SortedMap.from(for {
        (name, own) <- clusters
        (p, begin)  <- own.begins
      } yield LogPartition(s"$name/${p.topic}", p.partition) -> (begin -> own.until.offsets(p)))
      val expected = ProportionalShares(rows, all)
      val limits   = Limits.NotSet.copy(rows = Some(rows))
      val shared   =
        new ClusterAdmission(AdmissionPolicy.Lag, new RecordSizes)(limits, _ => Limits.NotSet, SortedMap.from(clusters))
      clusters.foreach { case (name, own) =>
        assert(shared.get(name).offsets.keySet == own.until.offsets.keySet)
        shared.get(name).offsets.foreach { case (p, until) =>
          val end = expected.getOrElse(LogPartition(s"$name/${p.topic}", p.partition), own.until.offsets(p))
          assert(until == end, s"$seed: $name/$p")
        }
      }
    }
  }
}
