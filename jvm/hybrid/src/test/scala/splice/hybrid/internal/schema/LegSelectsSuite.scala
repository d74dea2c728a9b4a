// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.schema

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.select.CompiledSelect
import splice.hybrid.{Legs, LocalSpark}
import splice.source.options.FailOrWarn
import splice.source.runtime.SessionSettings

/** Tests of the cache of compiled lists of a source. */
final class LegSelectsSuite extends AnyFunSuite with LocalSpark {

  private val source = Legs.source(Legs.live(Legs.log())._2.toMap)
  private val list   = "date_format(timestamp, 'HH') AS hour"
  private val hour   = StructType.fromDDL("hour STRING")

  private def leg(name: String): Leg = Leg(name, source, Some(list), None, FailOrWarn.Fail, s"$name.select")

  private def zoned(zone: String): SessionSettings = SessionSettings(SessionSettings.current.settings.map {
    case ("spark.sql.session.timeZone", _) => "spark.sql.session.timeZone" -> zone
    case other                             => other
  })

  test("a list is compiled once per leg, per set of columns and per session settings") {
    val selects = new LegSelects(hour)
    val utc     = selects.compile(leg("a"), hour, zoned("UTC"))
    assert(selects.compile(leg("a"), hour, zoned("UTC")) eq utc)
    def zone(of: CompiledSelect): String = Seq("UTC", "Asia/Tokyo").filter(of.shape.toString.contains).mkString
    assert(zone(utc) == "UTC" && zone(selects.compile(leg("a"), hour, zoned("Asia/Tokyo"))) == "Asia/Tokyo")
    val named = StructType.fromDDL("_leg STRING, hour STRING")
    Seq("a", "b").foreach { name =>
      assert(selects.compile(leg(name), named, zoned("UTC")).shape.toString.contains(s"($name, date_format"))
    }
  }
}
