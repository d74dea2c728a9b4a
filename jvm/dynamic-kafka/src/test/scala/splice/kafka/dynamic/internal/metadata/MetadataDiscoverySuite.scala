// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.time.{Clock, Duration}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.{Failure, Success, Try, Using}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.errors.{DynamicErrors, MetadataErrors}
import splice.kafka.dynamic.internal.options.StreamSelection
import splice.kafka.dynamic.{KafkaMetadataService, KafkaStream, StreamMetadata}
import splice.kafka.internal.enumerator.SimulatedRun.Hands
import splice.source.errors.SpliceException
import splice.testkit.LoggedMessages
import splice.testkit.internal.Patient

/** Tests of polls of the metadata service, and of a query without new metadata. */
final class MetadataDiscoverySuite extends AnyFunSuite {

  final private class Told extends KafkaMetadataService {
    val response = new AtomicReference[Try[StreamMetadata]](Success(StreamMetadata.Empty))
    val poller   = new AtomicInteger

    @volatile var before: () => Unit = () => ()

    override def allStreams(): StreamMetadata = {
      before()
      poller.incrementAndGet()
      response.get().get
    }
  }

  private val invalid = MetadataErrors.invalid("streams.yaml", 3, "clusters.west", "'bootstrapServers' is missing")

  private def document(stream: String): StreamMetadata =
    StreamMetadata.Empty.copy(streams = SortedMap(stream -> KafkaStream(stream, SortedMap.empty)))

  /** Waits for the end of a poll that begins after this call. */
  private def polled(service: Told): Unit = {
    val before = service.poller.get
    // The second of two polls begins after the first poll has ended.
    Patient.until("two polls")(service.poller.get >= before + 2)
  }

  /** Runs discovery that polls a service every few milliseconds. */
  private def polling(patience: Duration)(use: (MetadataDiscovery, Told, Hands) => Unit): Unit = {
    val (service, clock) = (new Told, new Hands)
    val all              = StreamSelection.Matching(".*")
    Using.resource(new MetadataDiscovery(service, all, Duration.ofMillis(5), patience, clock, "run"))(
      use(_, service, clock)
    )
  }

  test("a change is available before the third poll, so within two intervals") {
    polling(Duration.ofHours(1)) { (discovery, service, _) =>
      assert(discovery.now() == StreamMetadata.Empty)
      val released = new CountDownLatch(1)
      service.response.set(Success(document("orders")))
      val two = service.poller.get + 2
      service.before = () => if (service.poller.get >= two) released.await()
      try Patient.until("the change")(discovery.news().contains(document("orders")))
      finally released.countDown()
    }
  }

  test("a request that does not end counts as an unresponsive service, after a warning") {
    val (service, clock) = (new Told, new Hands)
    val all              = StreamSelection.Matching(".*")
    val (often, hour)    = (Duration.ofMillis(5), Duration.ofHours(1))
    val begun            = new CountDownLatch(1)
    val released         = new CountDownLatch(1)
    Using.resource(new MetadataDiscovery(service, all, often, hour, clock, "run")) { discovery =>
      discovery.now()
      service.before = () => {
        begun.countDown()
        released.await()
      }
      assert(begun.await(60, TimeUnit.SECONDS))
      discovery.requireResponses()
      val (_, warned) = LoggedMessages.during(classOf[MetadataDiscovery].getName) {
        clock.pass(hour.minusMillis(1))
        Seq(1, 2).foreach(_ => discovery.requireResponses())
      }
      assert(warned.size == 1 && warned.head.contains("has not ended since"), warned)
      clock.pass(Duration.ofMillis(1))
      val silent = intercept[SpliceException](discovery.requireResponses())
      assert(silent.getCondition == "SPLICE_METADATA_CONNECTION.FAILURE_TIMEOUT_EXCEEDED" &&
        silent.getMessage.contains("has not ended"))
      released.countDown()
    }
  }

  test("time without a new batch is not an outage, even with a pending request") {
    val (service, clock) = (new Told, new Hands)
    val all              = StreamSelection.Matching(".*")
    val hour             = Duration.ofHours(1)
    val (begun, end)     = (new CountDownLatch(1), new CountDownLatch(1))
    Using.resource(new MetadataDiscovery(service, all, Duration.ofMillis(5), hour, clock, "run")) { discovery =>
      discovery.now()
      service.before = () => {
        begun.countDown()
        end.await()
      }
      assert(begun.await(60, TimeUnit.SECONDS))
      clock.pass(hour.multipliedBy(3))
      discovery.requireResponses()
      end.countDown()
    }
  }

  test("one failed request is not an outage, even if the interval of requests is longer than the timeout") {
    val (service, clock) = (new Told, new Hands)
    val all              = StreamSelection.Matching(".*")
    val (days, hour)     = (Duration.ofDays(2), Duration.ofHours(1))
    Using.resource(new MetadataDiscovery(service, all, days, hour, clock, "run")) { discovery =>
      service.response.set(Failure(new IllegalStateException("no route")))
      intercept[IllegalStateException](discovery.now())
      clock.pass(hour.multipliedBy(3))
      discovery.requireResponses()
      intercept[IllegalStateException](discovery.now())
      val silent = intercept[SpliceException](discovery.requireResponses())
      assert(silent.getCondition == "SPLICE_METADATA_CONNECTION.FAILURE_TIMEOUT_EXCEEDED")
    }
  }

  test("a first start and a restart have different limits to wait for a response") {
    val service  = new Told
    val all      = StreamSelection.Matching(".*")
    val hour     = Duration.ofHours(1)
    val released = new CountDownLatch(1)
    val waits    = MetadataDiscovery.Waits(start = Duration.ofMillis(20), restart = Duration.ofSeconds(1))
    service.before = () => released.await()
    Using.resource(new MetadataDiscovery(service, all, hour, hour, Clock.systemUTC(), "run", waits)) { discovery =>
      Seq((false, "clusterTimeout", "0"), (true, "metadata.timeout", "1")).foreach { case (restarts, option, seconds) =>
        val slow = intercept[SpliceException](discovery.now(Option.when(restarts)(SortedMap.empty)))
        assert(slow.getCondition == "SPLICE_METADATA_CONNECTION.START_TIMEOUT_EXCEEDED" &&
          slow.getMessage.contains(s"'$option'"))
        assert(slow.getMessageParameters.get("seconds") == seconds)
      }
      released.countDown()
    }
  }

  test("an error in the code of the service counts as a failure, and the service is called again") {
    Seq(
      new NoClassDefFoundError("com/example/Client"),
      new StackOverflowError("too deep"),
      new OutOfMemoryError("Java heap space")
    ).foreach { error =>
      val (service, all) = (new Told, StreamSelection.Matching(".*"))
      val hour           = Duration.ofHours(1)
      val soon           = Duration.ofMillis(5)
      Using.resource(new MetadataDiscovery(service, all, soon, hour, Clock.systemUTC(), "run")) { discovery =>
        service.before = () => throw error
        val thrown = intercept[SpliceException](discovery.now())
        assert(thrown.getCondition == "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE" &&
          thrown.getMessage.contains(error.getMessage))
        Patient.until(discovery.health)(discovery.health.failures >= 3)
        assert(discovery.health.failing.exists(_._2 == error))
      }
    }
  }

  test("an invalid document is a response, and the query continues until the document is corrected") {
    val hour = Duration.ofHours(1)
    polling(hour) { (discovery, service, clock) =>
      assert(discovery.now() == StreamMetadata.Empty && discovery.rejected.isEmpty)
      service.response.set(Failure(invalid))
      Seq(1, 2, 3).foreach { _ =>
        polled(service)
        assert(discovery.news().forall(_ == StreamMetadata.Empty) && discovery.rejected.contains(invalid))
        discovery.requireResponses()
        clock.pass(hour)
      }
      polled(service)
      assert(discovery.health.total == 0 && discovery.health.failing.isEmpty)
      assert(discovery.age(clock.instant()).exists(_.compareTo(hour) < 0))
      service.response.set(Success(document("orders")))
      polled(service)
      assert(discovery.news().contains(document("orders")) && discovery.rejected.isEmpty)

      service.response.set(Failure(new IllegalStateException("no route")))
      polled(service)
      clock.pass(hour)
      discovery.requireResponses()
      polled(service)
      val silent = intercept[SpliceException](discovery.requireResponses())
      assert(silent.getCondition == "SPLICE_METADATA_CONNECTION.FAILURE_TIMEOUT_EXCEEDED")
      assert(discovery.rejected.isEmpty && discovery.health.total > 0)
    }
  }

  test("a valid document that the query has not received is returned while a later document is invalid") {
    polling(Duration.ofHours(1)) { (discovery, service, _) =>
      discovery.now()
      Seq(Success(document("orders")), Failure(invalid)).foreach { response =>
        service.response.set(response)
        polled(service)
      }
      assert(discovery.next.contains(document("orders")))
      assert(discovery.news().contains(document("orders")) && discovery.rejected.contains(invalid))
      polled(service)
      assert(discovery.news().isEmpty && discovery.rejected.contains(invalid))
    }
  }

  test("an invalid document at a start is an error, and other errors of metadata are failures") {
    val responses = Seq(
      invalid,
      MetadataErrors.invalidResponse("the service", "no cluster"),
      MetadataErrors.newer("streams.yaml", 2, 1),
      DynamicErrors.ambiguous(Seq("East", "east"), "cluster.east")
    )
    val failures = Seq(
      MetadataErrors.unavailable("the service", "no route"),
      MetadataErrors.notCreated("metadata.class", "Inventory", new IllegalStateException("no region"))
    )
    for ((errors, count) <- Seq(responses -> 0L, failures -> 1L); error <- errors) {
      val (service, hour) = (new Told, Duration.ofHours(1))
      val all             = StreamSelection.Matching(".*")
      service.response.set(Failure(error))
      Using.resource(new MetadataDiscovery(service, all, hour, hour, new Hands, "run")) { discovery =>
        assert(intercept[SpliceException](discovery.now()) eq error)
        assert(discovery.health.total == count && discovery.rejected.contains(error) == (count == 0), error)
      }
    }
  }

  test("a service that is unresponsive for too long ends the query, and a response restarts the timeout") {
    val (service, clock) = (new Told, new Hands)
    val names            = StreamSelection.Names(SortedSet("orders"))
    val (hour, patience) = (Duration.ofHours(1), Duration.ofMinutes(10))
    Using.resource(new MetadataDiscovery(service, names, hour, patience, clock, "run")) { discovery =>
      discovery.now()
      clock.pass(patience)
      discovery.requireResponses()

      service.response.set(Failure(new IllegalStateException("no route")))
      intercept[IllegalStateException](discovery.now())
      clock.pass(patience.minusMillis(1))
      intercept[IllegalStateException](discovery.now())
      clock.pass(Duration.ofMillis(1))
      discovery.requireResponses()
      intercept[IllegalStateException](discovery.now())
      val silent = intercept[SpliceException](discovery.requireResponses())
      assert(silent.getCondition == "SPLICE_METADATA_CONNECTION.FAILURE_TIMEOUT_EXCEEDED" &&
        silent.getMessage.contains("no route"))

      service.response.set(Success(StreamMetadata.Empty))
      discovery.now()
      discovery.requireResponses()
    }
  }
}
