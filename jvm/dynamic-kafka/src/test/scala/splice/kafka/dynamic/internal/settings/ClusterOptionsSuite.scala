// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.settings

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.{DocsPage, KafkaCluster, KafkaMetadataService, StreamMetadata}
import splice.kafka.internal.options.RackFrom
import splice.source.Limits
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.options.SourceOptions
import splice.testkit.LoggedMessages

final class ClusterOptionsSuite extends AnyFunSuite {

  private def settings(options: (String, String)*): DynamicSettings =
    DynamicSettings(SourceOptions(Map("streams" -> "s", "metadata.file" -> "/streams.yaml") ++ options))

  private def rejected(options: (String, String)*): String =
    intercept[SpliceOptionException](settings(options: _*)).getMessage

  private def cluster(name: String): KafkaCluster = KafkaCluster(name, SortedMap("bootstrap.servers" -> "a:9092"))

  private def metadata(names: String*): StreamMetadata =
    StreamMetadata(None, SortedMap.from(names.map(name => name -> cluster(name))), SortedMap.empty)

  test("an option that has no effect on one cluster is rejected, with the option of all clusters") {
    Seq(
      "minOffsetsPerTrigger"    -> "7",
      "includeHeaders"          -> "true",
      "valueFormat"             -> "string",
      "clusterTimeout"          -> "7s",
      "metadata.failureTimeout" -> "7s",
      "commitToGroup"           -> "true"
    ).foreach {
      case (option, value) =>
        val message = rejected(s"cluster.east.$option" -> value)
        assert(message.contains(s"'cluster.east.$option'") && message.contains(s"Set '$option'"), message)
        assert(message.contains("'cluster.<name>.<option>': kafka.<property of the client>, startingOffsets,"))
    }
  }

  test("the settings of a cluster follow the properties and the topics of each batch") {
    val known                                 = new ClusterSettings(settings())
    def read(password: String, topic: String) = {
      val secret =
        cluster("east").copy(properties = SortedMap("bootstrap.servers" -> "a:9092", "sasl.jaas.config" -> password))
      val found = known(secret, SortedSet(topic))
      assert(found == settings().of(secret, SortedSet(topic)))
      found
    }
    val first = read("one", "orders")
    assert(read("one", "orders") eq first)
    assert(read("two", "orders") != first && read("two", "refunds") != first && read("one", "orders") == first)
  }

  test("the documentation lists each option of one cluster") {
    val page = DocsPage("dynamic-kafka.md").split("### Options of one cluster")(1).split("\n### ")(0)
    assert(ClusterOptions.allowed.map(option => s"`${option.key}`").filterNot(page.contains).isEmpty)
  }

  test("a misspelled option or prefix is rejected with the nearest one") {
    assert(rejected("cluster.east.kafak.security.protocol" -> "SSL").contains("'cluster.east.kafka.security.protocol'"))
    assert(rejected("cluster.east.startingOfsets" -> "latest").contains("'cluster.east.startingOffsets'"))
    Seq("cluster.east", "cluster.startingOffsets", "cluster.east.kafka.", "cluster.east.slots").foreach { key =>
      assert(rejected(key -> "x").contains(s"'$key'"), key)
    }
  }

  test("values of one cluster are parsed when the source is built, and errors name the option of the cluster") {
    val typo = rejected("cluster.west.startingOffsets" -> "erliest")
    assert(typo.contains("'cluster.west.startingOffsets'") && typo.contains("'erliest'"))
    assert(rejected("cluster.a.b.discoveryInterval" -> "soon").contains("'cluster.a.b.discoveryInterval'"))
    assert(rejected("cluster.west.kafka.enable.auto.commit" -> "true").contains("enable.auto.commit"))
    assert(rejected("failOnDataLoss" -> "true", "cluster.west.onOutOfRange" -> "earliest").contains("onOutOfRange"))
  }

  test("limits of one cluster do not conflict with limits of all clusters") {
    Seq("maxOffsetsPerTrigger" -> "0", "maxBytesPerTrigger" -> "much").foreach { case (option, value) =>
      val message = rejected(s"cluster.east.$option" -> value)
      assert(message.contains(s"'cluster.east.$option'") && message.contains(s"'$value'"), message)
      assert(message.contains("a whole number, 1 or more") || message.contains("128m"), message)
    }
    val all = settings(
      "minOffsetsPerTrigger"              -> "10",
      "maxOffsetsPerTrigger"              -> "20",
      "cluster.East.maxOffsetsPerTrigger" -> "5",
      "cluster.a.b.maxBytesPerTrigger"    -> "1k"
    )
    val east = cluster("east").copy(maxOffsetsPerTrigger = Some(7), maxBytesPerTrigger = Some(8))
    assert(all.limits(east) == Limits.Limited(rows = Some(5), bytes = Some(8)))
    assert(all.limits(cluster("a.b")) == Limits.Limited(bytes = Some(1024)))
    assert(all.limits(cluster("west")) == Limits.NotSet)
    assert(all.of(east, SortedSet("t")).limits.minRows.isEmpty && all.base.limits.rows.contains(20L))
  }

  test("an end of one cluster requires an end of all clusters") {
    val alone = rejected("cluster.east.endingOffsets" -> "latest")
    assert(alone.contains("'cluster.east.endingOffsets'") && alone.contains("Set 'endingOffsets'"))
    settings("endingOffsets" -> "latest", "cluster.east.endingOffsets" -> """{"t":{"0":7}}""")
  }

  test("cluster names in options are case-insensitive and may contain dots") {
    val all = settings(
      "cluster.East.kafka.client.id"  -> "mine",
      "cluster.a.b.discoveryInterval" -> "7s",
      "discoveryInterval"             -> "1s"
    )
    def of(name: String) = all.of(cluster(name), SortedSet("t"))
    assert(of("east").client.properties.get("client.id").contains("mine"))
    assert(of("a.b").discoveryInterval.getSeconds == 7 && of("a").discoveryInterval.getSeconds == 1)
    assert(!of("a.b").client.properties.contains("client.id"))
  }

  test("options for clusters that the metadata does not have are detected") {
    val options = settings("cluster.eest.startingOffsets" -> "latest", "cluster.West.kafka.client.id" -> "me").clusters
    assert(options.check(metadata("east", "west")) == Set("eest"))
    assert(options.check(metadata("eest", "west")).isEmpty)
  }

  test("one warning per run names the options for a cluster that the metadata does not have") {
    val options = settings("cluster.eest.startingOffsets" -> "latest", "cluster.west.kafka.client.id" -> "me").clusters
    val service = options.watch(new KafkaMetadataService {
      override def allStreams(): StreamMetadata = metadata("east", "west")
    })
    val (_, logged) = LoggedMessages.during(classOf[ClusterOptions].getName)(Seq.fill(2)(service.allStreams()))
    assert(logged.size == 1, logged)
    Seq("'cluster.eest.*'", "no cluster 'eest'", "east, west").foreach(part => assert(logged.head.contains(part)))
  }

  test("metadata with two clusters whose names differ in case is rejected if they share options") {
    val options = settings("cluster.east.kafka.client.id" -> "me").clusters
    val service = options.watch(new KafkaMetadataService {
      override def allStreams(): StreamMetadata = metadata("East", "east", "west")
    })
    val error = intercept[SpliceException](service.allStreams())
    assert(error.getCondition == "SPLICE_METADATA.AMBIGUOUS_CLUSTER_NAME" && error.getMessage.contains("East and east"))
    assert(error.getMessage.contains("'cluster.east.*'"))
    assert(options.check(metadata("East", "west", "West")).isEmpty)
  }

  test("the rack of a document replaces 'rackFrom' of all clusters, and 'rackFrom' of one cluster replaces the rack") {
    val documented = cluster("east")
      .copy(properties = SortedMap("bootstrap.servers" -> "a:9092", "client.rack" -> "r1"))
    def found(named: KafkaCluster, options: (String, String)*) = {
      val all = settings(options: _*).of(named, SortedSet("t"))
      all.rackFrom -> all.client.properties.get("client.rack")
    }
    val every = "rackFrom" -> "env:RACK"
    assert(found(documented, every) == ((RackFrom.Nowhere, Some("r1"))))
    val otherCase = SortedMap("bootstrap.servers" -> "a:1", "Client.Rack" -> "r1")
    assert(found(cluster("east").copy(properties = otherCase), every) == ((RackFrom.Nowhere, Some("r1"))))
    assert(found(cluster("east").copy(properties = otherCase), "cluster.east.rackFrom" -> "env:R") ==
      ((RackFrom.Environment("R"), None)))
    assert(found(cluster("east"), every) == ((RackFrom.Environment("RACK"), None)))
    assert(found(documented, "cluster.East.RackFrom" -> "env:R") == ((RackFrom.Environment("R"), None)))
    assert(found(documented, every, "cluster.east.rackFrom" -> "none") == ((RackFrom.Nowhere, Some("r1"))))
    assert(found(documented, "cluster.east.kafka.client.rack" -> "r2") == ((RackFrom.Nowhere, Some("r2"))))
    val both = rejected("cluster.east.rackFrom" -> "env:R", "cluster.east.kafka.client.rack" -> "r2")
    assert(both.contains("rackFrom, kafka.client.rack conflict"), both)
  }
}
