// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.time.Duration
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.collection.immutable.SortedMap

import org.apache.kafka.common.TopicPartition
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.cluster.Recheck
import splice.kafka.internal.options.ClientProperties
import splice.source.errors.SpliceException

/** Tests of topic id requests without a responding broker. */
final class TopicIdClientSuite extends AnyFunSuite {

  private val planned  = Map("t" -> "id")
  private val expected = Map(new TopicPartition("t", 0) -> 1L)

  private def client(options: (String, String)*): TopicIdClient = new TopicIdClient(
    ClientProperties(
      SortedMap("bootstrap.servers" -> "127.0.0.1:1", "default.api.timeout.ms" -> "600000") ++ options,
      None
    ),
    Duration.ofMillis(50),
    Recheck(0, Duration.ZERO)
  )

  /** Fails unless the request ends long before the timeout of the client. */
  private def soon[A](request: => A): A = CompletableFuture.supplyAsync(() => request).get(1, TimeUnit.MINUTES)

  test("brokers that do not respond are an error for ids, and no topic is missing and no end is known") {
    val error = soon(intercept[SpliceException](client()(planned)))
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE")
    assert(Seq("127.0.0.1:1", "topic ids", "50 ms").forall(error.getMessage.contains(_)), error)
    assert(soon(client().missing(planned)).contains(Set.empty))
    assert(soon(client().ends(expected)).isEmpty)
  }

  test("a client that cannot be created is an error") {
    val error = intercept[SpliceException](client("receive.buffer.bytes" -> "many")(planned))
    assert(error.getCondition == "SPLICE_KAFKA.BROKER_ERROR" && error.getMessage.contains("topic ids"), error)
  }

  test("a request after the close of the reader ends and reports no missing topic") {
    val ids = client()
    ids.cancel()
    intercept[InterruptedException](ids(planned))
    intercept[InterruptedException](ids.missing(planned))
    intercept[InterruptedException](ids.ends(expected))
  }
}
