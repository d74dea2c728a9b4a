// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.nio.file.{Files, Path}
import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.Leg
import splice.hybrid.{HandOver, Legs}
import splice.source.StartPosition.Offsets
import splice.source.errors.SpliceException
import splice.source.log.LogRange
import splice.source.options.FailOrWarn
import splice.source.{Evidence, LogPartition, OffsetRanges}
import splice.testkit.internal.memory.{MemoryOptions, MemoryPosition}

/** Tests of the hand-over from the checkpoint of the query that has written the history. */
final class WriterHandOverSuite extends AnyFunSuite {

  private val now    = Instant.parse("2026-03-01T00:00:00Z")
  private val source = Legs.source(MemoryOptions.of(Legs.log()).toMap)
  private val Query  = "6f4b2c1e"
  private val p0     = LogPartition("orders", 0)
  private val p1     = LogPartition("orders", 1)
  private val log    = SortedMap(p0 -> LogRange(2, 100), p1 -> LogRange(0, 100))

  private def leg(name: String) = Leg(name, source, None, None, FailOrWarn.Fail, s"$name.select")

  /** Checkpoint of a query with two sources. */
  private def checkpoint(batches: (Int, Seq[String])*): Path = {
    val folder = Files.createTempDirectory("splice-writer")
    Files.createDirectory(folder.resolve("offsets"))
    Files.writeString(folder.resolve("metadata"), s"""{"id":"$Query"}""")
    batches.foreach { case (number, lines) =>
      val head = Seq("v1", """{"batchWatermarkMs":0}""")
      Files.writeString(folder.resolve(s"offsets/$number"), (head ++ lines).mkString("\n"))
    }
    folder
  }

  private def orders(first: Long, second: Long): String = s"""{"orders":{"0":$first,"1":$second}}"""

  private def decide(folder: Path, last: Map[String, Long], number: Int = 0): HandOverDecision = {
    val end = Evidence(MemoryPosition("x", SortedMap.empty), lastBatch = last.get(_))
    new WriterHandOver(leg("history"), leg("live"), HandOver.WriterCheckpoint(folder.toString, number), end, now)
      .decide(_ => log)
  }

  private def starts(decision: HandOverDecision) = decision.start match {
    case Offsets(all) => all.map { case (p, OffsetRanges(from, _, _)) => p -> from }
    case other        => fail(s"$other")
  }

  private def refused(body: => Any): SpliceException = intercept[SpliceException](body)

  test("the leg begins at the ends of the last batch that the history has, and not at a later batch") {
    val folder = checkpoint(3 -> Seq(orders(10, 20)), 4 -> Seq(orders(15, 25)), 5 -> Seq(orders(40, 50)))
    val found  = decide(folder, Map(Query -> 4L))
    assert(starts(found) == SortedMap(p0 -> 15L, p1 -> 25L))
    assert(found.proof == Seq(s"""{"batch":4,"query":"$Query","offsets":${orders(15, 25)}}""") ||
      found.proof.head.contains("\"batch\":4"))
  }

  test("the number of the source selects its line, also with names of sources") {
    val two   = checkpoint(0 -> Seq("0", orders(7, 8)))
    val named = checkpoint(0 -> Seq("other:-", s"orders:${orders(9, 9)}"))
    assert(starts(decide(two, Map(Query -> 0L), 1)) == SortedMap(p0 -> 7L, p1 -> 8L))
    assert(starts(decide(named, Map(Query -> 0L), 1)) == SortedMap(p0 -> 9L, p1 -> 9L))
    Seq(0, 2).foreach { number =>
      assert(refused(decide(two, Map(Query -> 0L), number)).getCondition == "SPLICE_HAND_OVER.WRITER_SOURCE_NOT_FOUND")
    }
  }

  test("a partition that the batch did not have begins at its first record") {
    val folder = checkpoint(0 -> Seq("""{"orders":{"1":5}}"""))
    assert(starts(decide(folder, Map(Query -> 0L))) == SortedMap(p0 -> 2L, p1 -> 5L))
  }

  test("another query, a removed batch and a folder that is no checkpoint are errors") {
    val folder = checkpoint(5 -> Seq(orders(40, 50)))
    val other  = refused(decide(folder, Map("another" -> 5L)))
    assert(other.getCondition == "SPLICE_HAND_OVER.WRITER_NOT_FOUND" && other.getMessage.contains(Query))
    val removed = refused(decide(folder, Map(Query -> 4L)))
    assert(removed.getCondition == "SPLICE_HAND_OVER.WRITER_FILE_NOT_FOUND" && removed.getMessage.contains("offsets/4"))
    val empty = refused(decide(Files.createTempDirectory("splice-writer"), Map(Query -> 5L)))
    assert(empty.getCondition == "SPLICE_HAND_OVER.WRITER_FILE_NOT_FOUND" && empty.getMessage.contains("metadata"))
  }

  test("an end that the log no longer has, an end after the log and an unknown topic are errors") {
    def of(offsets: String) = refused(decide(checkpoint(0 -> Seq(offsets)), Map(Query -> 0L)))
    assert(of(orders(1, 5)).getCondition == "SPLICE_HAND_OVER_DATA.GAP")
    assert(of(orders(101, 5)).getMessage.contains("after the end of the log"))
    assert(of("""{"other":{"0":1}}""").getMessage.contains("other-0"))
  }
}
