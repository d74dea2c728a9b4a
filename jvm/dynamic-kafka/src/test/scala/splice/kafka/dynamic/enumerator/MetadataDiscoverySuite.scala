// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.{Failure, Success, Try, Using}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.{KafkaMetadataService, KafkaStream, StreamMetadata, StreamSelection}
import splice.kafka.enumerator.SimulatedRun.Hands
import splice.source.SpliceException

/** How long a query goes on with an old answer. */
final class MetadataDiscoverySuite extends AnyFunSuite {

  final private class Told extends KafkaMetadataService {
    val answer = new AtomicReference[Try[StreamMetadata]](Success(StreamMetadata.Empty))
    val looks  = new AtomicInteger

    override def allStreams(): StreamMetadata = {
      looks.incrementAndGet()
      answer.get().get
    }

    override def isClusterActive(cluster: String): Boolean = true
  }

  test("a change is there to be applied before a third look has begun, so within two intervals") {
    val service  = new Told
    val all      = StreamSelection.Matching(".*")
    val changed  = StreamMetadata.Empty.copy(streams = SortedMap("orders" -> KafkaStream("orders", SortedMap.empty)))
    val interval = Duration.ofMillis(400)
    Using.resource(new MetadataDiscovery(service, all, interval, interval, Clock.systemUTC(), "run")) { discovery =>
      assert(discovery.now() == StreamMetadata.Empty)
      val before = service.looks.get
      service.answer.set(Success(changed))
      val end                  = System.nanoTime() + TimeUnit.MINUTES.toNanos(1)
      @tailrec def seen(): Int =
        if (discovery.news().contains(changed)) service.looks.get - before
        else if (System.nanoTime() > end) fail("the change never arrived")
        else seen()
      assert(seen() <= 2)
    }
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
