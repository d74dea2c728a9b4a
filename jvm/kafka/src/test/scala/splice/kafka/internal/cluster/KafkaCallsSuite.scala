// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration
import java.util.concurrent.ExecutionException

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors._
import org.apache.kafka.common.serialization.ByteArrayDeserializer
import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException

/** Tests of the results of driver calls to a cluster. */
final class KafkaCallsSuite extends AnyFunSuite {

  final private class World(shown: Throwable => Throwable = identity) {
    val calls = new KafkaCalls("mock:9092", Duration.ofMillis(1234), 2, Duration.ZERO, shown)
    val tried = mutable.ArrayBuffer.empty[String]

    def failing(errors: Exception*): String = {
      val left = errors.iterator
      calls("ends") {
        tried += "ends"
        left.nextOption().foreach(throw _)
        "answer"
      }
    }

    def error(errors: Exception*): SpliceException = intercept[SpliceException](failing(errors: _*))
  }

  private def moved = new NotLeaderOrFollowerException("moved")

  test("a request with a retriable error is retried as often as the option permits") {
    val w = new World
    assert(w.failing(moved, moved) == "answer" && w.tried.size == 3)
    val other = new World
    val error = other.error(moved, moved, moved)
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE" && other.tried.size == 3)
    assert(Seq("mock:9092", "ends", "1234 ms", "moved").forall(error.getMessage.contains(_)), error)
  }

  test("a timeout is not retried") {
    val w = new World
    assert(w.error(new TimeoutException("late")).getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE" &&
      w.tried.size == 1)
  }

  test("any other error is reported as rejected immediately, even within a future") {
    Seq(
      new TopicAuthorizationException("no right"),
      new ExecutionException(new TopicAuthorizationException("no right")),
      new ExecutionException(new IllegalStateException("no right"))
    ).foreach { cause =>
      val w     = new World
      val error = w.error(cause)
      assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR" && error.getMessage.contains("no right"), cause)
      assert(w.tried.size == 1)
    }
    val inside = new World
    assert(inside.failing(new ExecutionException(moved)) == "answer" && inside.tried.size == 2)
  }

  test("names of brokers that cannot be resolved are an outage") {
    val unresolved = Try(new KafkaConsumer[Array[Byte], Array[Byte]](
      Map[String, Object]("bootstrap.servers" -> "nowhere.invalid:9092").asJava,
      new ByteArrayDeserializer,
      new ByteArrayDeserializer
    )).failed.get
    val error = new World().error(unresolved.asInstanceOf[KafkaException])
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE")
    assert(error.getMessage.contains("No resolvable bootstrap urls"))
  }

  test("errors are redacted") {
    Seq(new TimeoutException("secret"), new TopicAuthorizationException("secret")).foreach { cause =>
      val error = new World(_ => new KafkaException("hidden")).error(cause)
      assert(error.getMessage.contains("hidden") && !error.getMessage.contains("secret"))
    }
    val last = new World(_ => new KafkaException("hidden")).error(moved, moved, moved)
    assert(last.getMessage.contains("hidden") && !last.getMessage.contains("moved"))
  }

  test("an interrupt is an InterruptedException, and the flag of the thread is not set") {
    val w     = new World
    val error = intercept[InterruptedException](w.failing(new InterruptException("stop")))
    assert(!Thread.interrupted() && w.tried.size == 1 && error.getMessage.contains("mock:9092 (ends)"))
  }
}
