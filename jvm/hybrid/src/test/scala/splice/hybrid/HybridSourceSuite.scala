// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.{Clock, Instant, ZoneOffset}

import scala.util.Using

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.split.LegRange
import splice.source.SplitRange
import splice.source.internal.entries.Json
import splice.source.internal.rows.PlainType
import splice.source.log.Extent

/** Tests of properties that a hybrid source derives from its legs. */
final class HybridSourceSuite extends AnyFunSuite with HybridWorlds {

  test("the task metrics are the distinct metrics of all legs") {
    val kafka  = Seq("source" -> "kafka", "subscribe" -> "t", "kafka.bootstrap.servers" -> "broker:9092")
    val files  = Seq("source" -> "files", "format" -> "parquet", "path" -> "/lake")
    val legs   = Seq("history" -> files, "middle" -> (kafka :+ "endingOffsets" -> "latest"), "live" -> kafka)
    val names  = Legs.source(legs: _*).taskMetrics.map(_.name)
    val single = Seq(files, kafka).map(own => Legs.source(own.toMap).taskMetrics.map(_.name))
    assert(single.last.nonEmpty && names == single.flatten.distinct)
  }

  test("the history of a leg has the switch, its time, its rule, the needed delay and its findings") {
    new World {
      val clock: Clock = Clock.fixed(Instant.ofEpochSecond(5), ZoneOffset.UTC)
      Using.resource(Legs.run(source, log, clock))(batches(_))
      val provider   = new HybridSourceProvider
      val Seq(event) = provider.history(log.scope("leg-live")): @unchecked
      assert(event.number == 0 && event.at.contains(Instant.ofEpochSecond(5)) && event.event == "handOver")
      assert(event.names.map(_.take(16)) == Seq("handOver=offsets") && event.generation.isEmpty)
      val details = Json.read(event.details.get).get
      assert(Json.fields(details).map(_._1).toSet == Set("at", "rule", "start", "delayNeededMs", "found"))
      assert(details.path("delayNeededMs").asText == "unknown")
      assert(details.path("start").asText == "offsets" && details.path("found").size == 2)
      assert(details.at("/found/1/partition").asInt == 1)
      assert(provider.history(log.scope("leg-history")).isEmpty)
    }
  }

  test("the history of a leg has the kind of start: configured, a time or offsets") {
    Seq(
      Nil                                                        -> "\"configured\"",
      Seq("handOver" -> "nowMinus", "handOver.duration" -> "2s") -> """{"timestamp":3000}""",
      Seq("handOver" -> "offsets")                               -> "\"offsets\""
    ).foreach { case (changed, kind) =>
      new World {
        override def rule: Seq[(String, String)] = changed
        val clock: Clock                         = Clock.fixed(Instant.ofEpochSecond(5), ZoneOffset.UTC)
        Using.resource(Legs.run(source, log, clock))(batches(_))
        val details = new HybridSourceProvider().history(log.scope("leg-live")).flatMap(_.details).map(Json.read(_).get)
        assert(details.map(found => Json.write(found.path("start"))) == Seq(kind))
      }
    }
  }

  test("a bounded hybrid has the end of its last leg") {
    new World {
      override def own: Seq[(String, String)] = Seq("bounded" -> "true")
      Using.resource(Legs.run(source, log)) { c =>
        val end = c.evidence(batches(c).last._2).get
        assert(end.modificationTimes().map(_.last).contains(Instant.ofEpochSecond(5)))
        assert(intercept[UnsupportedOperationException](end.eventTimes()).getMessage.nonEmpty)
      }
    }
  }

  private case class Piece(override val weight: Long) extends SplitRange {
    override def splitId: String                             = "piece"
    override def slotted: Boolean                            = true
    override def cuttable: Boolean                           = true
    override def pieces(weights: Seq[Long]): Seq[SplitRange] = weights.map(Piece(_))
    override def extents: Seq[Extent]                        = Seq(Extent(1, 0, weight))
    override def preferredHosts: Seq[String]                 = Seq("host")
  }

  test("the range of a leg has the properties of its inner range") {
    val range = LegRange("live", Piece(5))
    assert(range.splitId == "live/piece" && range.weight == 5 && range.slotted && range.cuttable)
    assert(range.extents == Seq(Extent(1, 0, 5)) && range.preferredHosts == Seq("host"))
    assert(range.pieces(Seq(2, 3)) == Seq(LegRange("live", Piece(2)), LegRange("live", Piece(3))))
    val plain = LegRange("live", new SplitRange { override def splitId: String = "x" })
    assert(!plain.slotted && !plain.cuttable && plain.extents.isEmpty && plain.preferredHosts.isEmpty)
  }

  test("columns of the hybrid source are nullable at every level") {
    def kind(nullable: Boolean): StructType = {
      val inner = StructType(Seq(StructField("x", LongType, nullable)))
      StructType(Seq(
        StructField("s", inner, nullable),
        StructField("a", ArrayType(inner, nullable), nullable),
        StructField("m", MapType(inner, ArrayType(LongType, nullable), nullable), nullable)
      ))
    }
    assert(PlainType.of(kind(nullable = false)) == kind(nullable = true))
  }
}
