// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.deletion

import java.time.Clock
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.cluster._
import splice.kafka.internal.enumerator.KafkaEnumerator
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.split.KafkaPosition
import splice.source.options.SourceOptions
import splice.source.{Limits, LogPartition}
import splice.testkit.internal.broker.SharedKafka

/** Tests of a topic that is deleted while a run of `Trigger.AvailableNow` determines its ends. */
final class RealFrozenDeletionSuite extends AnyFunSuite with DeletedTopics {

  /** Deletes a topic after each run has described the topics and before the run requests their ends. */
  final private class Deletion(topic: String, runs: Int) {
    private val left    = new AtomicInteger(runs)
    private val deleted = new CountDownLatch(1)

    def apply(): Unit =
      if (left.decrementAndGet() == 0) {
        real.delete(topic)
        deleted.countDown()
      } else deleted.await()
  }

  // A client that waits for a missing topic sends about seven requests per second. Its timeout is 60 seconds.
  private val Requests = 150

  /** Metadata of a broker that calls `after` after the first description of topics. */
  final private class Described(log: ClusterClient, after: () => Unit) extends ClusterClient {
    private lazy val once = after()

    override def describe(): LogDescription = {
      val found = log.describe()
      once
      found
    }

    override def earliest(of: Set[LogPartition]): Map[LogPartition, Long]            = log.earliest(of)
    override def ends(of: Set[LogPartition]): Map[LogPartition, Long]                = log.ends(of)
    override def endsSoon(of: Set[LogPartition]): OffsetAnswers[Long]                = log.endsSoon(of)
    override def earliestSoon(of: Set[LogPartition]): OffsetAnswers[Long]            = log.earliestSoon(of)
    override def atTime(of: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = log.atTime(of)
    override def topicStates(topics: Set[String]): () => Map[String, DescribedTopic] = log.topicStates(topics)
    override def committed(of: Set[LogPartition]): Map[LogPartition, Long]           = log.committed(of)
    override def times(at: Map[LogPartition, Long]): Map[LogPartition, Long]         = log.times(at)

    override def firstRecords(in: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] = log.firstRecords(in)

    override def close(): Unit = log.close()
  }

  test("a deletion between the description of topics and the request of ends: the policy applies immediately") {
    create("vanishes", "lasts")
    val logs = policies.map { policy =>
      val log   = new MemorySideLog
      val c     = new Coordinator(source(policy, "vanishes", "lasts"), context(log), 1, batchesToRetain = 100)
      val begun = real.all(c, c.initial()).json
      c.close()
      (policy, log, KafkaPosition.read(begun))
    }
    real.write("lasts", 1, 5, 8)
    val deletion = new Deletion("vanishes", policies.size)
    val results  = atOnce(logs) { case (policy, side, from) =>
      val options = Map("kafka.bootstrap.servers" -> SharedKafka.east.servers) ++
        this.options(policy, "vanishes", "lasts")
      val settings          = KafkaSettings(SourceOptions(options))
      val own               = context(side)
      val log               = new Described(new KafkaClusterClient(settings, own.run), () => deletion())
      val discovery         = new ClockedDiscovery(log, settings.discoveryInterval, Clock.systemUTC())
      val e                 = KafkaEnumerator(settings, own, log, discovery)
      val (result, sent, _) = counted(policy.client("vanishes", "lasts")) {
        Try {
          e.freeze()
          e.advance(from, Limits.Everything)
        }
      }
      e.close()
      (policy, result, sent)
    }
    results.foreach { case (policy, result, sent) =>
      info(s"$policy: $sent requests")
      assert(condition(result) == Option.when(policy.fails)("SPLICE_KAFKA_DATA.DATA_LOSS"), policy)
      result.foreach { at =>
        assert(at.get(LogPartition("lasts", 0)).contains(8L), policy)
        assert(at.hasTopic("vanishes") == policy.keepsPosition, policy)
      }
      assert(sent <= Requests, policy)
    }
  }
}
