// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.chain.Leg
import splice.hybrid.{HandOver, Legs}
import splice.source.errors.SpliceException
import splice.source.internal.entries.{Json, VersionedEntry}
import splice.source.log.OffsetRuns
import splice.source.options.FailOrWarn
import splice.source.{LogPartition, OffsetRanges, StartPosition, StoredStart}

/** Tests of the format of holes in a switch entry. */
final class FillFormatSuite extends AnyFunSuite {

  private val log    = Legs.log()
  private val source = Legs.source(Legs.live(log))
  private val leg    = Leg("live", source, None, Some(HandOver.offsets()), FailOrWarn.Fail, "live.select")
  private val start  = source.position(Legs.run(source, new MemorySideLog).initial().json)
  private val proof  = Seq("""{"topic":"t"}""", """{"topic":"u"}""")

  private def t(partition: Int): LogPartition = LogPartition("t", partition)

  private val holes = SortedMap(
    t(0)  -> OffsetRanges(30, Vector(2L -> 5L, 9L -> 20L), Some(OffsetRuns.of(10L -> 12L, 15L -> 16L))),
    t(1)  -> OffsetRanges(7),
    t(12) -> OffsetRanges(1L << 40, Vector(0L -> (1L << 33))),
    LogPartition("a,\"b", 0) -> OffsetRanges(3, Vector(1L -> 2L))
  )

  private def written(ranges: SortedMap[LogPartition, OffsetRanges]): Seq[String] = {
    val decision = HandOverDecision(StartPosition.Offsets(ranges), Instant.EPOCH, proof)
    SwitchFormat.write(leg, leg, start, decision, start)
  }

  private def read(lines: Seq[String]): SwitchFormat.Switch =
    SwitchFormat.read(VersionedEntry.read("hand-over-00000000", lines), source)

  test("a switch entry has the partitions with holes after its findings") {
    val switch = read(written(holes))
    assert(switch.fill == holes - t(1) && switch.proof == proof && switch.start == start)
    assert(switch.stored == StoredStart(start.json, holes - t(1)))
    val entry = VersionedEntry.read("hand-over-00000000", written(holes))
    assert(SwitchFormat.summary(entry).toMap.apply("found") == Json.array(proof.flatMap(Json.read(_))))
  }

  test("a hole has the expected text") {
    val lines = written(holes)
    assert(lines.head.contains(""","filled":3,"""))
    assert(lines.slice(5, 7).map(_.take(23)) == Seq("""["a,\"b",0,3,[[1,2]]]""", """["t",0,30,[[2,5],[9,20]"""))
    assert(lines.last == """["t",12,1099511627776,[[0,8589934592]]]""")
  }

  test("a switch entry without holes has no fields for holes") {
    val lines = written(holes.filter(_._1 == t(1)))
    assert(lines.size == 5 && !lines.head.contains("filled") && read(lines).fill.isEmpty)
  }

  test("random histories are equal after a write and a read") {
    (1 to 300).foreach { seed =>
      val random = new Random(seed.toLong)
      val all    = SortedMap.from((0 to random.nextInt(4)).map { p =>
        val bounds = Seq.fill(2 * random.nextInt(5))(random.nextInt(1000).toLong).distinct.sorted
        val fill   = bounds.grouped(2).collect { case Seq(a, b) => a -> b }.toVector
        val held = Option.when(random.nextBoolean())(OffsetRuns.of(fill.map { case (a, b) => a -> ((a + b) / 2) }: _*))
        t(p) -> OffsetRanges(1000L, fill, held.filter(_ => fill.nonEmpty))
      })
      assert(read(written(all)).fill == all.filter(_._2.fill.nonEmpty), s"seed $seed")
    }
  }

  test("the error has the corrupt line") {
    val head = written(SortedMap(t(0) -> holes(t(0)))).dropRight(1)
    Seq(
      """["t",0,30]""",
      """["t",0,30,[]]""",
      """["t",0,30,[[2]]]""",
      """["t",0,30,[[2,5,7]]]""",
      """["t",0,30,[[5,2]]]""",
      """["t",0,30,[[2,5],[4,6]]]""",
      """["t",0,30,[[2,31]]]""",
      """["t",0,"30",[[2,5]]]""",
      """["t",0,30,[["2",5]]]""",
      """[7,0,30,[[2,5]]]""",
      """["t","0",30,[[2,5]]]""",
      """["t",0,30,[[2,5]],"%"]""",
      """["t",0,30,[[2,5]],"AAAA"]""",
      """["t",0,30,[[2,5]],7]""",
      """{"t":0}""",
      """nothing"""
    ).foreach { line =>
      val damaged = intercept[SpliceException](read(head :+ line))
      assert(damaged.getCondition == "SPLICE_CHECKPOINT.CORRUPT", s"$line: $damaged")
      assert(damaged.getMessage.contains("hand-over-00000000"), damaged)
    }
    val short = head.map(_.replace(""""filled":1""", """"filled":9"""))
    assert(intercept[SpliceException](read(short)).getCondition == "SPLICE_CHECKPOINT.CORRUPT")
  }
}
