// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.Place
import splice.kafka.dynamic.StreamMetadata
import splice.source.LogPartition
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions

final class PlaceTextSuite extends AnyFunSuite {

  private val yaml =
    """version: 1
      |generation: 7
      |clusters:
      |  east: {bootstrapServers: "east-1:9092"}
      |  west: {bootstrapServers: "west-1:9092"}
      |streams:
      |  orders: {east: [orders], west: [orders, orders-old]}
      |  refunds: {west: [refunds]}
      |""".stripMargin

  private def read(text: String): StreamMetadata =
    MetadataDocument.read("streams.yaml", text, new DocumentProperties(any = true, SourceOptions(Map.empty)))

  private def refused(text: String): String = intercept[SpliceException](read(text)).getMessage

  private val cutovers =
    s"""${yaml}cutovers:
       |  orders: {timestamp: "2026-11-22T10:00:00+01:00", lateness: 30s}
       |  refunds:
       |    offsets: {east: {refunds: {"0": 1200, "1": 1180}}, west: {refunds: {"0": 80}}}
       |""".stripMargin

  test("cutovers at a time and at offsets are read") {
    val streams = read(cutovers).streams
    assert(streams("orders").cutover.contains(
      Place.At(Instant.parse("2026-11-22T09:00:00Z"), Duration.ofSeconds(30))
    ))
    assert(streams("refunds").cutover.contains(Place.Offsets(SortedMap(
      "east" -> SortedMap(LogPartition("refunds", 0) -> 1200L, LogPartition("refunds", 1) -> 1180L),
      "west" -> SortedMap(LogPartition("refunds", 0) -> 80L)
    ))))
    val plain = read(cutovers.replace("\"2026-11-22T10:00:00+01:00\", lateness: 30s", "1700000000000"))
    assert(plain.streams("orders").cutover.contains(Place.At(Instant.ofEpochMilli(1700000000000L))))
    assert(read(yaml).streams.values.forall(_.cutover.isEmpty))
  }

  test("an invalid cutover is an error with its line") {
    assert(refused(cutovers.replace("  orders: {time", "  orderz: {time")).contains(
      "line 10: 'cutovers.orderz' is invalid: stream 'orderz' does not exist; the streams are orders, refunds"
    ))
    assert(refused(cutovers.replace(
      "2026-11-22T10",
      "tomorrow at 10"
    )).contains("line 10: 'cutovers.orders.timestamp'"))
    assert(refused(cutovers.replace("30s", "soon")).contains("line 10: 'cutovers.orders.lateness'"))
    assert(refused(cutovers.replace("{timestamp: ", "{time: ")).contains("the field 'time' does not exist"))
    assert(refused(cutovers.replace("  refunds:\n    offsets", "  refunds:\n    lateness: 1s\n    offsets"))
      .contains("line 12: 'cutovers.refunds.lateness' is invalid: 'lateness' belongs to 'timestamp'"))
    assert(refused(cutovers.replace("{timestamp: \"2026-11-22T10:00:00+01:00\", ", "{"))
      .contains("exactly one of 'timestamp' and 'offsets' is needed"))
    assert(refused(cutovers.replace(
      "\"1\": 1180",
      "\"one\": 1180"
    )).contains("line 12: 'cutovers.refunds.offsets.east"))
    assert(refused(cutovers.replace("\"0\": 80", "\"0\": -1")).contains("'-1' is not a whole number, 0 or more"))
    assert(refused(cutovers.replace("west: {refunds:", "west: {refund:")).contains(
      "line 12: 'cutovers.refunds.offsets' is invalid: the entry names no topic of stream 'refunds'"
    ))
  }

  private val places =
    s"""${yaml}starts:
       |  orders: latest
       |  refunds: {offsets: {west: {refunds: {"0": 12}}}}
       |stops:
       |  orders: {timestamp: "2026-11-22T10:00:00Z", lateness: 30s}
       |  refunds: latest
       |""".stripMargin

  test("starts and stops are read") {
    val streams = read(places).streams
    assert(streams("orders").start.contains(Place.Latest) && streams("refunds").stop.contains(Place.Latest))
    assert(streams("refunds").start.contains(
      Place.Offsets(SortedMap("west" -> SortedMap(LogPartition("refunds", 0) -> 12L)))
    ))
    assert(streams("orders").stop.contains(
      Place.At(Instant.parse("2026-11-22T10:00:00Z"), Duration.ofSeconds(30))
    ))
    assert(read(places.replace("orders: latest", "orders: earliest")).streams("orders").start.contains(
      Place.Earliest
    ))
    val stop = "refunds: {offsets: {west: {refunds: {\"0\": 1, \"1\": 2}}}}\n"
    assert(read(places.replace("refunds: latest\n", stop)).streams("refunds").stop.contains(
      Place.Offsets(SortedMap(
        "west" -> SortedMap(LogPartition("refunds", 0) -> 1L, LogPartition("refunds", 1) -> 2L)
      ))
    ))
    assert(read(yaml).streams.values.forall(s => s.start.isEmpty && s.stop.isEmpty))
  }

  test("an invalid start or stop is an error with its line, its value and the allowed values") {
    Seq(
      "orders: latest" -> "orders: middle" ->
        "line 10: 'starts.orders' is invalid: 'middle' is not a valid value. Use earliest, latest, an object with 'timestamp', or an object with 'offsets'",
      "orders: latest"   -> "orders: [latest]" -> "line 10: 'starts.orders' is invalid",
      "  orders: latest" -> "  orderz: latest" ->
        "line 10: 'starts.orderz' is invalid: stream 'orderz' does not exist; the streams are orders, refunds",
      "{offsets: {west" -> "{lateness: 1s, offsets: {west" ->
        "line 11: 'starts.refunds.lateness' is invalid: the field 'lateness' does not exist",
      "{refunds: {\"0\": 12}}" -> "{orders: {\"0\": 12}}" ->
        "line 11: 'starts.refunds.offsets' is invalid: west/orders is not a topic of stream 'refunds'",
      "{west: {refunds: {\"0\": 12}}}" -> "{west: {refunds: {\"0\": 12}}, wset: {refunds: {\"0\": 1}}}" ->
        "line 11: 'starts.refunds.offsets' is invalid: wset/refunds is not a topic of stream 'refunds'. Use west/refunds",
      "refunds: latest\n" -> "refunds: {offsets: {west: {refunds: {\"0\": 1}}, east: {}}}\n" ->
        "line 14: 'stops.refunds.offsets' is invalid: east is not a topic of stream 'refunds'. Use west/refunds",
      "{timestamp: \"2026-11-22T10:00:00Z\", lateness: 30s}"                  ->
        "{offsets: {east: {orders: {\"0\": 1}}, west: {orders: {\"0\": 2}}}}" ->
        "line 13: 'stops.orders.offsets' is invalid: a stop needs offsets of every topic, and west/orders-old has no offsets",
      "2026-11-22T10:00:00Z" -> "soon" -> "line 13: 'stops.orders.timestamp' is invalid: 'soon' is not a valid time",
      "refunds: latest" -> "refunds: earliest" ->
        "line 14: 'stops.refunds' is invalid: 'earliest' is not a valid value. Use latest, an object"
    ).foreach { case ((from, to), message) =>
      val found = refused(places.replace(from, to))
      assert(found.contains(message), found)
    }
  }
}
