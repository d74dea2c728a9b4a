// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.errors.SpliceException
import splice.source.internal.entries.NumberedEntries
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, Limits, Position, Source, SplitEnumerator}

final class ChainEntriesSuite extends AnyFunSuite {

  private class Named(of: Seq[LegIdentity], continued: String*) extends Source[Position] {
    override def kind: String                                         = of.head.source
    override def schema: StructType                                   = new StructType()
    override def position(json: String): Position                     = throw new UnsupportedOperationException
    override private[splice] def legs(log: SideLog): Seq[LegIdentity] = of
    override private[splice] def continues(other: String): Boolean    = continued.contains(other)
    override def enumerator(context: EnumeratorContext): SplitEnumerator[Position] =
      throw new UnsupportedOperationException
  }

  private def leg(name: String, source: String, identity: (String, String)*): LegIdentity =
    LegIdentity(Some(name), source, Some(SortedMap.from(identity)))

  private def alone(source: String, identity: (String, String)*): LegIdentity =
    LegIdentity(None, source, Some(SortedMap.from(identity)))

  private val chain = Seq(leg("history", "files", "format" -> "parquet", "path" -> "/a"), leg("live", "kafka"))

  private def changed(before: Seq[LegIdentity], after: Seq[LegIdentity]): String = {
    val log = new MemorySideLog
    ChainEntries.check(log, new Named(before), OffsetLog.Empty)
    ChainEntries.check(log, new Named(before), OffsetLog.Empty)
    val error = intercept[SpliceException](ChainEntries.check(log, new Named(after), OffsetLog.Empty))
    assert(error.getCondition == "SPLICE_CHECKPOINT.SOURCE_CHANGED")
    assert(log.keys("") == Seq("chain-00000000"))
    error.getMessage
  }

  test("the error names the first difference, with its leg") {
    val moved = chain.updated(0, leg("history", "files", "format" -> "parquet", "path" -> "/b"))
    assert(changed(chain, moved).contains("history.path was '/a' and is '/b' now"))
    val more = chain.updated(0, leg("history", "files", "format" -> "parquet", "path" -> "/a", "schema" -> "id BIGINT"))
    assert(changed(chain, more).contains("history.schema was not set and is 'id BIGINT' now"))
    assert(changed(more, chain).contains("history.schema was 'id BIGINT' and is not set now"))
    assert(changed(chain, chain.updated(1, leg("live", "dynamicKafka"))).contains(
      "live.source was 'kafka' and is 'dynamicKafka' now"
    ))
    assert(changed(Seq(alone("files", "path" -> "/a")), Seq(alone("files", "path" -> "/b"))).contains(
      "path was '/a' and is '/b' now"
    ))
  }

  test("legs keep their names and their order") {
    assert(changed(chain, chain.reverse).contains("legs was 'history,live' and is 'live,history' now"))
    assert(changed(chain, chain.take(1)).contains(
      "legs was 'history,live' and is 'history' now. Leg 'live' has not ended, and only legs that have ended can be removed"
    ))
    assert(changed(chain, Seq(alone("kafka"))).contains("legs was 'history,live' and is 'none' now"))
  }

  test("if several legs are missing and have not ended, the error names the last missing leg") {
    val four = Seq("a", "b", "c").map(leg(_, "files").copy(begun = false)) :+ leg("d", "kafka").copy(begun = false)
    assert(changed(four, four.take(1)).contains("is 'a' now. Leg 'd' has not ended"))
    assert(changed(four, Seq(four.head, four.last)).contains("is 'a,d' now. Leg 'c' has not ended"))
  }

  test("a leg may be added after the last leg that has begun") {
    val begun = chain.updated(1, chain.last.copy(begun = false))
    Seq(chain :+ leg("next", "kafka"), Seq(begun.head, leg("next", "kafka"), begun.last)).foreach { more =>
      val log = new MemorySideLog
      ChainEntries.check(log, new Named(chain), OffsetLog.Empty)
      ChainEntries.check(log, new Named(more), OffsetLog.Empty)
      ChainEntries.check(log, new Named(more), OffsetLog.Empty)
      assert(log.keys("") == Seq("chain-00000000", "chain-00000001"))
      assert(intercept[SpliceException](ChainEntries.check(
        log,
        new Named(begun),
        OffsetLog.Empty
      )).getMessage.contains("'next' has not ended"))
    }
    assert(changed(chain, Seq(chain.head, leg("next", "kafka"), chain.last)).contains("is 'history,next,live' now"))
    assert(changed(chain, leg("next", "kafka") +: chain).contains("is 'next,history,live' now"))
  }

  test("a leg that has ended is compared by name and kind, and its identity is kept") {
    val ended = chain.updated(0, chain.head.copy(identity = None))
    val log   = new MemorySideLog
    ChainEntries.check(log, new Named(chain), OffsetLog.Empty)
    ChainEntries.check(log, new Named(ended), OffsetLog.Empty)
    assert(log.keys("") == Seq("chain-00000000"))
    ChainEntries.check(log, new Named(ended :+ leg("next", "kafka")), OffsetLog.Empty)
    assert(log.get("chain-00000001").exists(_.head.contains(""""path":"/a"""")))
    val other = ended.updated(0, ended.head.copy(source = "kafka"))
    assert(intercept[SpliceException](ChainEntries.check(
      log,
      new Named(other :+ leg("next", "kafka")),
      OffsetLog.Empty
    ))
      .getMessage.contains("history.source was 'files'"))
  }

  test("a leg that has ended is removed, keeps its position in the entry, and returns by its name and kind") {
    val log                                 = new MemorySideLog
    val three                               = Seq(leg("old", "files", "path" -> "/o").copy(begun = false)) ++ chain
    def start(legs: LegIdentity*): Unit     = ChainEntries.check(log, new Named(legs), OffsetLog.Empty)
    def refused(legs: LegIdentity*): String = intercept[SpliceException](start(legs: _*)).getMessage
    start(three.map(_.copy(begun = false)): _*)
    assert(refused(three.drop(1).map(_.copy(begun = false)): _*).contains("Leg 'old' has not ended"))
    start(chain: _*)
    start(chain: _*)
    assert(log.keys("") == Seq("chain-00000000", "chain-00000001"))
    assert(log.get("chain-00000001").exists(_.head.contains(
      """{"identity":{"path":"/o"},"name":"old","removed":true,"source":"files"}"""
    )))
    start(chain.last, leg("next", "kafka").copy(begun = false))
    assert(refused(chain.head.copy(source = "kafka"), chain.last).contains("'next'"))
    val next = leg("next", "kafka").copy(begun = false)
    assert(refused(chain.head.copy(source = "kafka"), chain.last, next).contains("history.source was 'files'"))
    assert(refused(chain.last, chain.head, next).contains("is 'live,history,next' now"))
    assert(refused(chain.last, next, leg("old", "files")).contains("is 'live,next,old' now"))
    start(three.head, chain.last, next)
    start(three :+ next: _*)
    val removed = (number: Int) => log.get(NumberedEntries.key("chain", number)).get.head.split("removed").length - 1
    assert((0 to 4).map(removed) == Seq(0, 1, 2, 1, 0))
  }

  test("a leg that an undecided hand-over counts cannot be removed, even if the rule changes later") {
    val log                             = new MemorySideLog
    val begun                           = leg("recent", "files", "path" -> "/r")
    val last                            = leg("live", "kafka").copy(begun = false)
    def start(legs: LegIdentity*): Unit = ChainEntries.check(log, new Named(legs), OffsetLog.Empty)
    start(leg("old", "files", "path" -> "/o"), begun.copy(begun = false), last)
    val counts                 = begun.copy(countsBefore = Some("live"))
    def error: SpliceException = intercept[SpliceException](start(counts, last))
    assert(error.getMessage.contains("leg 'live' is not decided, and counts the rows of leg 'old'"))
    start(begun, last)
    assert(error.getMessage.contains("Keep leg 'old' until leg 'live' has begun"))
  }

  test("a source continues the checkpoint of a kind that the source names, and of no other kind") {
    val log   = new MemorySideLog
    val kafka = new Named(Seq(alone("kafka")))
    ChainEntries.check(log, kafka, OffsetLog.Empty)
    val dynamic = new Named(Seq(alone("dynamicKafka")), "kafka")
    ChainEntries.check(log, dynamic, OffsetLog.Empty)
    ChainEntries.check(log, dynamic, OffsetLog.Empty)
    assert(log.keys("") == Seq("chain-00000000", "chain-00000001"))
    val back = intercept[SpliceException](ChainEntries.check(log, kafka, OffsetLog.Empty))
    assert(back.getMessage.contains("source was 'dynamicKafka' and is 'kafka' now"))
    val files =
      intercept[SpliceException](ChainEntries.check(log, new Named(Seq(alone("files")), "kafka"), OffsetLog.Empty))
    assert(files.getMessage.contains("source was 'dynamicKafka' and is 'files' now"))
  }

  test("an entry with a former name of a source belongs to the source") {
    val log   = new MemorySideLog
    val entry = """{"legs":[{"identity":{},"source":"dynamic-kafka"}],"v":1}"""
    log.getOrCreate("chain-00000000")(Seq(entry))
    ChainEntries.check(log, new Named(Seq(alone("dynamicKafka"))), OffsetLog.Empty)
    assert(log.keys("") == Seq("chain-00000000"))
  }

  test("an entry is JSON with a version, and a damaged one is rejected") {
    val log = new MemorySideLog
    ChainEntries.check(log, new Named(chain), OffsetLog.Empty)
    assert(log.get("chain-00000000").contains(Seq(
      """{"legs":[{"identity":{"format":"parquet","path":"/a"},"name":"history","source":"files"},""" +
        """{"identity":{},"name":"live","source":"kafka"}],"v":1}"""
    )))
    Seq("""{"legs":[{"name":"live"}],"v":1}""", """{"v":1}""", "x").foreach { text =>
      val damaged = new MemorySideLog
      damaged.getOrCreate("chain-00000000")(Seq(text))
      val error = intercept[SpliceException](ChainEntries.check(damaged, new Named(chain), OffsetLog.Empty))
      assert(error.getCondition == "SPLICE_CHECKPOINT.CORRUPT", text)
    }
  }

  private def logged(offset: String): OffsetLog = new OffsetLog {
    override def latest(): Option[String] = Some(offset)
    override def oldest(): Option[String] = None
  }

  test("offsets without an entry are rejected before any write, and accepted with an entry") {
    val log    = new MemorySideLog
    val source = new CounterSource(() => SortedMap.empty, Limits.NotSet)
    val error  = intercept[SpliceException](ChainEntries.check(log, source, logged("""{"0":5}""")))
    assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND" && error.getMessage.contains("chain-00000000"))
    assert(log.keys("").isEmpty)
    ChainEntries.check(log, source, OffsetLog.Empty)
    ChainEntries.check(log, source, logged("""{"0":5}"""))
    assert(log.keys("") == Seq("chain-00000000"))
  }

  test("a source that continues checkpoints of Spark's own source reads the offset and stores its entry") {
    val log    = new MemorySideLog
    val source = new CounterSource(() => SortedMap.empty, Limits.NotSet) {
      override private[splice] def takesOver(offset: Position): Boolean = offset.json == """{"0":5}"""
    }
    intercept[SpliceException](ChainEntries.check(log, source, logged("""{"0":6}""")))
    def warnings =
      Warnings.during(ChainEntries.getClass.getName)(ChainEntries.check(log, source, logged("""{"0":5}""")))
    val first = warnings
    assert(first.size == 1)
    Seq("chain-00000000", "source counter", """{"0":5}""").foreach(words => assert(first.head.contains(words)))
    assert(log.keys("") == Seq("chain-00000000") && warnings.isEmpty)
  }
}
