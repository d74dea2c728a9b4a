// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.lang.reflect.{InvocationHandler, Proxy}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{Admin, AlterConsumerGroupOffsetsResult}
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.errors.GroupAuthorizationException
import org.apache.kafka.common.internals.KafkaFutureImpl
import org.apache.kafka.common.protocol.Errors
import org.apache.kafka.common.{KafkaFuture, TopicPartition}
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.source.LogPartition
import splice.testkit.LoggedMessages

/** Tests of commits to a consumer group, with one pending commit at a time. */
final class GroupCommitterSuite extends AnyFunSuite {

  private type Response = KafkaFutureImpl[java.util.Map[TopicPartition, Errors]]

  /** Admin client whose responses the test completes. */
  final private class World {
    val sent      = mutable.ArrayBuffer.empty[Map[Int, Long]]
    val responses = mutable.ArrayBuffer.empty[Response]

    private val results = classOf[AlterConsumerGroupOffsetsResult].getDeclaredConstructor(classOf[KafkaFuture[_]])
    results.setAccessible(true)

    private val response: InvocationHandler = (_, method, args) => {
      assert(method.getName == "alterConsumerGroupOffsets" && args(0) == "g")
      val offsets = args(1).asInstanceOf[java.util.Map[TopicPartition, OffsetAndMetadata]]
      sent += offsets.asScala.iterator.map { case (p, one) => p.partition -> one.offset }.toMap
      responses += new Response
      results.newInstance(responses.last)
    }

    private val admin =
      Proxy.newProxyInstance(getClass.getClassLoader, Array[Class[_]](classOf[Admin]), response).asInstanceOf[Admin]

    val commits = new GroupCommitter(admin, "g")

    def commit(offsets: (Int, Long)*): Unit = commits(offsets.map { case (p, o) => (t(p): LogPartition) -> o }.toMap)

    def complete(i: Int): Unit = { val _ = responses(i).complete(java.util.Map.of()) }

    def refuse(i: Int): Unit = {
      val _ = responses(i).completeExceptionally(new GroupAuthorizationException("no right to the group"))
    }
  }

  test("during a pending commit, only the last offsets are kept for the next commit") {
    val w = new World
    (1L to 3L).foreach(o => w.commit(0 -> o))
    assert(w.sent == Seq(Map(0 -> 1L)))
    w.complete(0)
    assert(w.sent == Seq(Map(0 -> 1L), Map(0 -> 3L)))
    w.complete(1)
    assert(w.sent.size == 2 && w.commits.flush())
  }

  test("committed offsets are not sent again, and one changed offset sends all offsets") {
    val w = new World
    w.commit(0 -> 1, 1 -> 1)
    w.complete(0)
    w.commit(0 -> 1, 1 -> 1)
    assert(w.sent.size == 1)
    w.commit(0 -> 1, 1 -> 2)
    assert(w.sent.last == Map(0 -> 1L, 1 -> 2L) && w.sent.size == 2)
    w.complete(1)
    w.commit(0 -> 1, 1 -> 1)
    assert(w.sent.size == 3, "an offset may decrease")
  }

  test("a failed commit logs one warning, and the same offsets are sent again") {
    val w             = new World
    val (_, messages) = LoggedMessages.during(classOf[GroupCommitter].getName) {
      w.commit(0 -> 1)
      w.refuse(0)
    }
    assert(messages.size == 1 && messages.head.contains("the group g") && messages.head.contains("no right"))
    assert(!w.commits.flush())
    w.commit(0 -> 1)
    assert(w.sent == Seq(Map(0 -> 1L), Map(0 -> 1L)))
    w.complete(1)
    assert(w.commits.flush())
  }

  test("offsets that wait for a commit are sent after it fails") {
    val w = new World
    w.commit(0 -> 1)
    w.commit(0 -> 2)
    w.refuse(0)
    assert(w.sent == Seq(Map(0 -> 1L), Map(0 -> 2L)))
    w.complete(1)
    assert(w.commits.flush())
  }

  test("no commit is sent after close") {
    val w = new World
    w.commit(0 -> 1)
    w.complete(0)
    w.commits.close()
    w.commit(0 -> 2)
    assert(w.sent.size == 1)
  }
}
