// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration
import java.util.Optional

import scala.collection.mutable

import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo
import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.{NotLeaderOrFollowerException, TimeoutException, TopicAuthorizationException}
import org.apache.kafka.common.internals.KafkaFutureImpl
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** Tests of requests for one offset per partition, with unresponsive partitions. */
final class OffsetRequestsSuite extends AnyFunSuite {

  private val both: Set[LogPartition] = Set(t(0), t(1))

  /** Consumer that returns 7 for all partitions, or fails if a partition is unresponsive. The test completes the
    * responses of the admin client for unresponsive partitions.
    */
  final private class World(
      pause: Duration = Duration.ZERO,
      failure: KafkaException = new TimeoutException("no leader"),
      shown: Throwable => Throwable = identity
  ) {
    val together = mutable.ArrayBuffer.empty[Set[LogPartition]]
    val each     = mutable.ArrayBuffer.empty[Set[LogPartition]]
    val open     = mutable.Map.empty[LogPartition, KafkaFutureImpl[ListOffsetsResultInfo]]

    var silent: Set[LogPartition] = Set(t(1))

    private def response(p: LogPartition) = {
      val created = new KafkaFutureImpl[ListOffsetsResultInfo]
      if (silent(p)) open(p) = created else { val _ = created.complete(info(7)) }
      created
    }

    def info(offset: Long) = new ListOffsetsResultInfo(offset, 0L, Optional.empty[Integer]())

    val requests = new OffsetRequests("the end", "mock:9092", Duration.ZERO, pause, shown)(
      { (some, _) =>
        together += some
        if (some.exists(silent)) throw failure
        some.iterator.map(_ -> 7L).toMap
      },
      { some =>
        each += some
        some.iterator.map(p => p -> response(p)).toMap
      },
      found => Some(found.offset)
    )

    def fail(error: KafkaException): Unit = { val _ = open(t(1)).completeExceptionally(error) }
  }

  private def unreachable(error: SpliceException): Boolean =
    error.getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE" && error.getMessage.contains("the end of t-1")

  test("an unresponsive partition does not delay other partitions, and its request stays pending") {
    val w     = new World
    val first = w.requests(both)
    assert(first.found == Map(t(0) -> 7L) && first.silent.keySet == Set(t(1)) && unreachable(first.silent(t(1))))
    val second = w.requests(both)
    assert(second.found == Map(t(0) -> 7L) && second.silent.keySet == Set(t(1)))
    assert(w.together == Seq(both, Set(t(0))) && w.each == Seq(both))
    w.open(t(1)).complete(w.info(9))
    val third = w.requests(both)
    assert(third.found == Map(t(0) -> 7L, t(1) -> 9L) && third.silent.isEmpty)
    w.silent = Set.empty
    assert(w.requests(both).found == Map(t(0) -> 7L, t(1) -> 7L) && w.together.last == both)
  }

  test("a failed request is sent again only after the pause") {
    Seq(Duration.ZERO -> Seq(both, Set(t(1))), Duration.ofHours(1) -> Seq(both)).foreach { case (pause, sent) =>
      val w = new World(pause)
      w.requests(both)
      w.fail(new NotLeaderOrFollowerException("moved"))
      val failed = w.requests(both)
      assert(unreachable(failed.silent(t(1))) && failed.silent(t(1)).getMessage.contains("moved"))
      val again = w.requests(both)
      assert(w.each == sent && again.silent.keySet == Set(t(1)) && again.found == Map(t(0) -> 7L))
      w.open(t(1)).complete(w.info(9))
      val responded = w.requests(both)
      assert(responded.found.get(t(1)) == Option.when(sent.size == 2)(9L))
      assert(responded.silent.isEmpty == (sent.size == 2))
    }
  }

  test("a request that brokers reject is reported as rejected, with the redacted error") {
    val w = new World(shown = e => new KafkaException(s"hidden ${e.getMessage}"))
    w.requests(both)
    w.fail(new KafkaException("secret"))
    val error = w.requests(both).silent(t(1))
    assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR" && error.getMessage.contains("hidden secret"))
  }

  test("partitions that are no longer requested are dropped") {
    val open = new World
    open.requests(both)
    assert(open.requests(Set(t(0))).silent.isEmpty)
    open.silent = Set.empty
    assert(open.requests(both).found.keySet == both && open.together.last == both)
    val failed = new World(Duration.ofHours(1))
    failed.requests(both)
    failed.fail(new NotLeaderOrFollowerException("moved"))
    failed.requests(both)
    assert(failed.requests(Set(t(0))).silent.isEmpty)
    failed.silent = Set.empty
    assert(failed.requests(both).found.keySet == both)
  }

  test("a missing permission of one topic does not delay other topics, and any other consumer error fails the call") {
    val denied = new World(failure = new TopicAuthorizationException("no right"))
    assert(denied.requests(both).found == Map(t(0) -> 7L))
    val broken = new World(failure = new KafkaException("broken"))
    assert(intercept[KafkaException](broken.requests(both)).getMessage == "broken" && broken.each.isEmpty)
  }
}
