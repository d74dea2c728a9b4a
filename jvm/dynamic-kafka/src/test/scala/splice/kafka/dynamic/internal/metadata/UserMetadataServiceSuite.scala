// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.{Collection => JCollection, Map => JMap, Properties, Set => JSet}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.Place
import splice.kafka.dynamic._
import splice.kafka.dynamic.internal.document.DocumentProperties
import splice.kafka.dynamic.internal.options.StreamSelection
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.source.LogPartition
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.options.SourceOptions
import splice.testkit.internal.Patient

/** Tests of user-defined metadata services. */
final class UserMetadataServiceSuite extends AnyFunSuite {

  import UserMetadataServiceSuite._

  private def settings(options: (String, String)*): DynamicSettings =
    DynamicSettings(SourceOptions(Map("streamPattern" -> ".*") ++ options))

  private def rejected(name: String): String = {
    val error = intercept[SpliceOptionException](settings("metadata.class" -> name))
    assert(error.getMessage.contains("'metadata.class'") && error.getMessage.contains(s"'$name'"))
    assert(error.getMessage.contains("splice.kafka.dynamic.KafkaMetadataService"))
    error.getMessage
  }

  private def named(kind: Class[_]): String = kind.getName

  private def service(options: (String, String)*): KafkaMetadataService =
    settings(options: _*).service(new Configuration())

  test("a class receives all options with the prefix metadata., and its metadata is used") {
    val found = service(
      "metadata"               -> "class",
      "metadata.class"         -> named(classOf[WithOptions]),
      "metadata.class.servers" -> "e:9092"
    ).allStreams()
    assert(found.clusters("east").properties("bootstrap.servers") == "e:9092" && found.generation.contains(7L))
    assert(service("metadata.class" -> named(classOf[Plain])).allStreams() == metadata())
  }

  test("a service of FLIP-246 keeps the clusters of requests that two queries send at the same time") {
    val service = new TwoQueries
    service.allStreams()
    service.second.join()
    assert(service.allStreams().clusters.keySet == SortedSet("east", "west"))
  }

  test("a missing class, a class that is not a service, or a class that cannot be created is rejected at build") {
    assert(rejected("com.example.Nowhere").contains("spark.jars"))
    assert(rejected(named(classOf[String])).contains("does not implement"))
    assert(rejected(named(classOf[NoConstructor])).contains("public constructor"))
    assert(rejected(named(classOf[KafkaMetadataService])).contains("abstract"))
  }

  test("an error of the constructor is reported with option, class and cause") {
    val failing = service("metadata.class" -> named(classOf[Failing]))
    val error   = intercept[SpliceException](failing.allStreams())
    assert(error.getCondition == "SPLICE_METADATA.SERVICE_NOT_CREATED" && error.getMessage.contains("no region"))
    assert(error.getMessage.contains("'metadata.class'") && error.getMessage.contains(named(classOf[Failing])))
  }

  test("an object of the program is used, and is not closed") {
    val mine = new Plain
    val spec = DynamicKafkaSource.builder().streams("orders").metadataService(mine).build()
    Using.resource(DynamicSettings(SourceOptions(spec.options)).service(new Configuration())) { created =>
      assert(created.describeStreams(Set("orders")) == metadata() &&
        created.describeStreams(Set("other")).streams.isEmpty)
    }
    assert(!mine.closed)
    val other   = service("metadata.instance" -> "Nothing-12345678")
    val missing = intercept[SpliceException](other.allStreams())
    assert(missing.getCondition == "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE" &&
      missing.getMessage.contains("Nothing-12345678"))
  }

  test("metadataProperties does not limit a class, and other rules of documents apply to the class") {
    def of(found: StreamMetadata, options: (String, String)*) = {
      val spec = DynamicKafkaSource.builder().streams("orders").metadataService(() => found).options(options.toMap)
      DynamicSettings(SourceOptions(spec.build().options)).service(new Configuration())
    }
    def broken(found: StreamMetadata): String = {
      val error = intercept[SpliceException](of(found).allStreams())
      assert(error.getCondition == "SPLICE_METADATA.INVALID_RESPONSE")
      error.getMessage
    }
    val free = metadata("sasl.login.class" -> "com.example.Login")
    assert(of(free).allStreams() == free)
    assert(broken(
      metadata("enable.auto.commit" -> "true")
    ).contains("'clusters.east.properties.enable.auto.commit' is invalid"))
    val literal = metadata("ssl.key.password" -> "hunter22")
    assert(broken(literal).contains("literal secret") && !broken(literal).contains("hunter22"))
    val east   = metadata().clusters("east")
    val reader = metadata().copy(clusters = SortedMap("east" -> east.copy(credentials = Some("reader"))))
    assert(broken(reader).contains("'clusters.east.credentials' is invalid"))
    assert(of(reader, "credentials.reader.kafka.client.id" -> "me").allStreams() == reader)
    assert(broken(metadata().copy(clusters = SortedMap("../x" -> east.copy(name = "../x")))).contains("'../x'"))
    assert(broken(metadata().copy(clusters =
      SortedMap.empty
    )).contains("'streams.orders.east' is invalid: cluster 'east' does not exist"))
    assert(broken(metadata().copy(clusters =
      SortedMap("west" -> east)
    )).contains("'clusters.west' is invalid: the name of the cluster is 'east'"))
    assert(broken(metadata().copy(clusters = SortedMap("east" -> east.copy(properties = SortedMap.empty))))
      .contains("bootstrap.servers"))
    val orders = metadata().streams("orders")
    val never  = metadata().copy(streams = SortedMap("orders" -> orders.copy(stop = Some(Place.Earliest))))
    assert(broken(never).contains("'stops.orders' is invalid: Earliest is not a valid place"))
    val wrong               = SortedMap("east" -> SortedMap(LogPartition("orders", 0) -> -1L))
    def start(place: Place) = metadata().copy(streams = SortedMap("orders" -> orders.copy(start = Some(place))))
    assert(broken(start(Place.Offsets(wrong))).contains("'-1' is not a valid offset of partition orders-0"))
    val other = SortedMap("east" -> SortedMap(LogPartition("order", 0) -> 1L))
    assert(
      broken(start(Place.Offsets(other))).contains("'starts.orders.offsets' is invalid: east/order is")
    )
    def moved(offsets: SortedMap[String, SortedMap[LogPartition, Long]]) = metadata().copy(streams =
      SortedMap("orders" -> orders.copy(cutover = Some(Place.Offsets(offsets))))
    )
    val old = SortedMap("west" -> SortedMap(LogPartition("orders", 0) -> 1L))
    Seq(other, old, SortedMap.empty[String, SortedMap[LogPartition, Long]]).foreach(foreign =>
      assert(broken(moved(foreign)).contains(
        "'cutovers.orders.offsets' is invalid: the entry names no topic of stream 'orders'"
      ))
    )
    val named = moved(old + ("east" -> SortedMap(LogPartition("orders", 0) -> 1L)))
    assert(of(named).allStreams() == named)
    Seq(Instant.EPOCH.minusMillis(1), Instant.MAX).foreach(time =>
      assert(broken(start(Place.At(time))).contains("is not a valid time"))
    )
    Seq("orders ", "a,b", "", ".", "t" * 250).foreach { topic =>
      val named = orders.copy(topics = SortedMap("east" -> SortedSet(topic)))
      val text  = broken(metadata().copy(streams = SortedMap("orders" -> named)))
      assert(text.contains(s"'streams.orders.east.$topic' is invalid: '$topic' is not a valid topic name"), topic)
    }
    Seq(
      "'clusters.east.maxOffsetsPerTrigger' is invalid: '0'" -> east.copy(maxOffsetsPerTrigger = Some(0)),
      "'clusters.east.maxBytesPerTrigger' is invalid: '-1'"  -> east.copy(maxBytesPerTrigger = Some(-1))
    ).foreach { case (what, limited) =>
      assert(broken(metadata().copy(clusters = SortedMap("east" -> limited))).contains(what))
    }
  }

  test("an exception of the service is reported as an unavailable service with its cause") {
    val spec = DynamicKafkaSource.builder().streams("orders")
      .metadataService(() => throw new IllegalStateException("inventory is down")).build()
    val created = DynamicSettings(SourceOptions(spec.options)).service(new Configuration())
    val error   = intercept[SpliceException](created.allStreams())
    assert(error.getCondition == "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE" &&
      error.getMessage.contains("inventory is down"))
  }

  test("a service with the three methods of FLIP-246 is called only on the discovery thread") {
    val flip = new Flip
    Seq(
      StreamSelection.Matching(".*")             -> "getAllStreams",
      StreamSelection.Names(SortedSet("orders")) -> "describeStreams"
    )
      .foreach { case (selection, method) =>
        flip.calls.clear()
        val checked = new CheckedMetadataService("flip", anything, closes = true)(() => flip)
        val hour    = Duration.ofHours(1)
        Using.resource(new MetadataDiscovery(checked, selection, hour, hour, Clock.systemUTC(), "flip")) { discovery =>
          val found = discovery.now()
          assert(found.streams("orders").topics == SortedMap("east" -> SortedSet("a", "b"), "west" -> SortedSet("a")))
          assert(found.streams("orders").start.contains(Place.Latest))
          assert(found.clusters.map { case (name, c) => name -> c.active } ==
            SortedMap("east" -> true, "west" -> false))
        }
        val calls = flip.calls.asScala.toSeq
        assert(calls.map(_._1).toSet == Set(method, "isClusterActive", "close"))
        assert(calls.map(_._2).toSet == Set("splice-kafka-metadata-flip"))
      }
  }

  test("a cluster without FLIP-246 streams is requested, and different properties of one cluster are an error") {
    val flip = new Flip
    flip.allStreams()
    flip.only = Some("west")
    assert(flip.allStreams().clusters.keySet == Set("east", "west"))
    flip.other = Some("security.protocol")
    val error = intercept[SpliceException](flip.allStreams())
    assert(error.getCondition == "SPLICE_METADATA.INVALID_RESPONSE" && error.getMessage.contains("orders, returns"))
    assert(error.getMessage.contains("'west'") && error.getMessage.contains("security.protocol"))
  }

  private def anything =
    new DocumentProperties(any = true, SourceOptions(Map.empty))
}

object UserMetadataServiceSuite {

  def metadata(properties: (String, String)*): StreamMetadata = StreamMetadata(
    Some(7),
    SortedMap("east"   -> KafkaCluster("east", SortedMap(properties: _*) + ("bootstrap.servers" -> "east:9092"))),
    SortedMap("orders" -> KafkaStream("orders", SortedMap("east" -> SortedSet("orders"))))
  )

  final class Plain extends KafkaMetadataService {
    var closed                                = false
    override def allStreams(): StreamMetadata = metadata()
    override def close(): Unit                = closed = true
  }

  final class WithOptions(options: JMap[String, String]) extends KafkaMetadataService {
    override def allStreams(): StreamMetadata = metadata().copy(clusters =
      SortedMap("east" -> KafkaCluster("east", SortedMap("bootstrap.servers" -> options.get("metadata.class.servers"))))
    )
  }

  final class NoConstructor(found: StreamMetadata) extends KafkaMetadataService {
    override def allStreams(): StreamMetadata = found
  }

  final class Failing extends KafkaMetadataService {
    val region: String = sys.props.getOrElse("splice.test.region", throw new IllegalArgumentException("no region"))
    override def allStreams(): StreamMetadata = metadata()
  }

  /** Runs a second request within the first request. */
  final class TwoQueries extends Flip246MetadataService {
    private val first = Thread.currentThread
    val second        = new Thread(() => { val _ = allStreams() })

    override def getAllStreams(): JSet[Flip246MetadataService.Stream] = {
      val name = if (Thread.currentThread eq first) "east" else "west"
      val part = Flip246MetadataService.Cluster(Set("t").asJava, new Properties)
      Set(Flip246MetadataService.Stream(name, Map(name -> part).asJava)).asJava
    }
    override def describeStreams(ids: JCollection[String]): JMap[String, Flip246MetadataService.Stream] =
      Map.empty.asJava
    override def isClusterActive(cluster: String): Boolean = {
      if ((Thread.currentThread eq first) && second.getState == Thread.State.NEW) {
        second.start()
        Patient.until(second.getState)(Set(Thread.State.BLOCKED, Thread.State.TERMINATED)(second.getState))
      }
      true
    }
  }

  final class Flip extends Flip246MetadataService {
    val calls                              = new ConcurrentLinkedQueue[(String, String)]
    @volatile var only                     = Option.empty[String]
    @volatile var other                    = Option.empty[String]
    private def note(method: String): Unit = { val _ = calls.add(method -> Thread.currentThread.getName) }

    private def part(cluster: String, topics: String*): (String, Flip246MetadataService.Cluster) = {
      val properties = new Properties
      properties.setProperty("bootstrap.servers", s"$cluster:9092")
      cluster -> Flip246MetadataService.Cluster(topics.toSet.asJava, properties)
    }

    private def streams: Map[String, Flip246MetadataService.Stream] = {
      val parts   = Map(part("east", "a", "b"), part("west", "a")).filter(p => only.forall(_ == p._1))
      val orders  = Flip246MetadataService.Stream("orders", parts.asJava)
      val returns = other.map { key =>
        val (name, own) = part("west", "c")
        own.properties.setProperty(key, "SSL")
        "returns" -> Flip246MetadataService.Stream("returns", Map(name -> own).asJava)
      }
      Map("orders" -> orders) ++ returns
    }

    override def getAllStreams(): JSet[Flip246MetadataService.Stream] = {
      note("getAllStreams")
      streams.values.toSet.asJava
    }
    override def describeStreams(ids: JCollection[String]): JMap[String, Flip246MetadataService.Stream] = {
      note("describeStreams")
      streams.filter(s => ids.contains(s._1)).asJava
    }
    override def isClusterActive(cluster: String): Boolean = {
      note("isClusterActive")
      cluster != "west"
    }
    override protected def extended(stream: KafkaStream): KafkaStream =
      stream.copy(start = Some(Place.Latest))
    override def close(): Unit = note("close")
  }
}
