// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Duration
import java.util.concurrent.atomic.AtomicReference

import scala.collection.immutable.SortedSet
import scala.util.{Failure, Success, Try, Using}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata, StreamSelection}
import splice.kafka.enumerator.SimulatedRun.Hands
import splice.source.SpliceException

/** How long a query goes on with an old answer. */
final class MetadataDiscoverySuite extends AnyFunSuite {

  final private class Told extends KafkaMetadataService {
    val answer                                = new AtomicReference[Try[StreamMetadata]](Success(StreamMetadata.Empty))
    override def allStreams(): StreamMetadata = answer.get().get
    override def isClusterActive(cluster: String): Boolean = true
  }

  test("a service that is silent for too long ends the query, and an answer begins the time anew") {
    val (service, clock) = (new Told, new Hands)
    val names            = StreamSelection.Names(SortedSet("orders"))
    val (hour, patience) = (Duration.ofHours(1), Duration.ofMinutes(10))
    Using.resource(new MetadataDiscovery(service, names, hour, patience, clock, "run")) { discovery =>
      discovery.now()
      clock.pass(patience)
      discovery.requireAnswers()

      service.answer.set(Failure(new IllegalStateException("no route")))
      intercept[IllegalStateException](discovery.now())
      clock.pass(patience.minusMillis(1))
      discovery.requireAnswers()
      intercept[IllegalStateException](discovery.now())
      clock.pass(Duration.ofMillis(1))
      val silent = intercept[SpliceException](discovery.requireAnswers())
      assert(silent.getCondition == "SPLICE_METADATA.SILENT" && silent.getMessage.contains("no route"))

      service.answer.set(Success(StreamMetadata.Empty))
      discovery.now()
      discovery.requireAnswers()
    }
  }
}
