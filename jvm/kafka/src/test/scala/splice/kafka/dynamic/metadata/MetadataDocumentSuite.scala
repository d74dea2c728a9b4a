// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

import org.scalatest.funsuite.AnyFunSuite

import splice.source.SpliceException

final class MetadataDocumentSuite extends AnyFunSuite {

  private def reference(what: String): String = "$" + s"{file:/run/secrets/east:$what}"

  private val yaml =
    s"""version: 1
       |generation: 7
       |clusters:
       |  east:
       |    bootstrapServers: east-1:9092,east-2:9092
       |    properties:
       |      security.protocol: SASL_SSL
       |      sasl.jaas.config: ${reference("jaas")}
       |  west: {bootstrapServers: "west-1:9092", active: false}
       |streams:
       |  orders: {east: [orders], west: [orders, orders-old]}
       |  refunds: {west: [refunds]}
       |""".stripMargin

  private def read(text: String, literal: Boolean = false): MetadataDocument =
    MetadataDocument.read("streams.yaml", text, literal)

  private def refused(text: String): String = intercept[SpliceException](read(text)).getMessage

  test("streams, their clusters and topics, and which cluster is not to be used") {
    val found = read(yaml)
    assert(found.metadata.generation.contains(7L))
    assert(found.metadata.streams("orders").topics.view.mapValues(_.mkString(",")).toMap ==
      Map("east" -> "orders", "west" -> "orders,orders-old"))
    assert(found.metadata.clusters("east").properties == Map(
      "bootstrap.servers" -> "east-1:9092,east-2:9092",
      "security.protocol" -> "SASL_SSL",
      "sasl.jaas.config"  -> reference("jaas")
    ))
    assert(found.inactive == Set("west"))
  }

  test("JSON is read as well") {
    val json  = """{"version":1,"clusters":{"a":{"bootstrapServers":"a:1"}},"streams":{"s":{"a":["t"]}}}"""
    val found = read(json).metadata
    assert(found.generation.isEmpty && found.streams("s").topics("a") == Set("t"))
  }

  test("some of the streams, and only the clusters that they are on") {
    val some = read(yaml).metadata.only(Set("refunds"))
    assert(some.streams.keySet == Set("refunds") && some.clusters.keySet == Set("west"))
  }

  test("no stream at all is an answer") {
    assert(read("version: 1\nstreams: {}").metadata.streams.isEmpty)
  }

  test("what is wrong is said with its line") {
    assert(refused("version: 1\nstreams:\n  s: {nowhere: [t]}").contains(
      "streams.yaml, line 3: 'streams.s.nowhere' cannot be used: there is no cluster 'nowhere'"
    ))
    assert(refused(yaml.replace("bootstrapServers: east", "bootstrapServer: east")).contains(
      "line 5: 'clusters.east.bootstrapServer' cannot be used: nothing is known of 'bootstrapServer'"
    ))
    assert(refused(yaml.replace("west: [refunds]", "west: []")).contains("line 12: 'streams.refunds.west'"))
    assert(refused(yaml.replace("refunds:", "orders:")).contains("'orders' is there twice"))
    assert(refused(yaml.replace("active: false", "active: maybe")).contains("neither true nor false"))
    assert(refused(yaml.replace("  west: {boot", "  we/st: {boot")).contains("no name of a cluster"))
    assert(refused("generation: 1\nstreams: {}").contains("'version' is missing"))
    assert(refused("version: 1\n").contains("'streams' is missing"))
    assert(refused("").contains("it is empty"))
    assert(refused("version: 1\nstreams: [").contains("line 2"))
    assert(refused("- 1").contains("it is not an object"))
  }

  test("a newer document says so") {
    val error = intercept[SpliceException](read("version: 2\nsomething: new"))
    assert(error.getCondition == "SPLICE_METADATA.NEWER" && error.getMessage.contains("version 2"))
  }

  test("a secret as it is, is refused, and not shown; a reference is not") {
    val plain = yaml.replace(reference("jaas"), """Login required username="me" password="hunter22";""")
    assert(refused(plain).contains("line 8: 'clusters.east.properties.sasl.jaas.config'"))
    assert(!refused(plain).contains("hunter22"))
    assert(read(plain, literal = true).metadata.clusters("east").toString.contains("redacted"))
    assert(read(plain.replace("hunter22", reference("password"))).metadata.clusters.contains("east"))
    assert(refused(yaml.replace("security.protocol: SASL_SSL", "ssl.key.password: hunter22")).contains("line 7"))
  }
}
