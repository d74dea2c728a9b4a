// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.split

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.errors.SpliceException

final class PositionEntriesSuite extends AnyFunSuite {

  private val Short = 60

  private def at(change: Int, offset: Long): DynamicPosition = DynamicPosition.of(
    change,
    Seq("east", "west").map(name => name -> KafkaPosition.of(Seq(LogPartition("a-topic-of-some-length", 0) -> offset)))
  )

  private def open(side: MemorySideLog): PositionEntries = new PositionEntries(side, longest = Short)

  private def condition(work: => Any): String = intercept[SpliceException](work).getCondition

  test("a short offset contains the position, and no entry is written") {
    val side  = new MemorySideLog
    val small = DynamicPosition.of(3, Seq("e" -> KafkaPosition.of(Seq(LogPartition("t", 0) -> 5L))))
    assert(open(side).offset(small) eq small)
    assert(open(side).offset(DynamicPosition.of(0, Nil)).json == """{"change":0,"clusters":{},"v":1}""")
    assert(side.keys("").isEmpty)
  }

  test("a longer offset refers to an entry, from which this and the next run read the position") {
    val side   = new MemorySideLog
    val log    = open(side)
    val offset = log.offset(at(5, 7))
    assert(offset.json == """{"at":"position-00000000","change":5,"v":1}""")
    assert(side.get("position-00000000").get == Seq(
      """{"change":5,"v":1}""",
      """{"cluster":"east","offsets":{"a-topic-of-some-length":{"0":7}}}""",
      """{"cluster":"west","offsets":{"a-topic-of-some-length":{"0":7}}}"""
    ))
    val replayed = DynamicPosition.read(offset.json)
    assert(replayed == offset && log(replayed) == at(5, 7) && open(side)(replayed) == at(5, 7))
    assert(log.offset(at(5, 8)).json == """{"at":"position-00000001","change":5,"v":1}""")
    assert(open(side)(replayed) == at(5, 7))
  }

  test("equal positions have equal offsets, even in the run after a kill before the log of the offset") {
    val side  = new MemorySideLog
    val first = open(side).offset(at(5, 7))
    assert(open(side).offset(at(5, 7)) == first && side.keys("").size == 1)
    val second = open(side).offset(at(5, 8))
    assert(second != first && open(side).offset(at(5, 9)) != second && side.keys("").size == 3)
  }

  test("the entry of the start is kept in each run") {
    val side  = new MemorySideLog
    val first = open(side)
    val start = first.start(at(0, 7))
    (8L to 12L).foreach(offset => first.purge(first.offset(at(0, offset))))
    assert(first(start) == at(0, 7) && side.keys("").size == 2)
    val later = new PositionEntries(side, Some(start), Short)
    (13L to 17L).foreach(offset => later.purge(later.offset(at(0, offset))))
    assert(later(start) == at(0, 7) && side.keys("").size == 2)
  }

  test("after the first stored position all positions are stored, and offsets are compared without entries") {
    val side  = new MemorySideLog
    val whole = DynamicPosition.of(9, Seq("e" -> KafkaPosition.of(Seq(LogPartition("t", 0) -> 5L))))
    val log   = open(side)
    val first = log.offset(at(9, 7))
    val small = log.offset(whole)
    assert(small.json == """{"at":"position-00000001","change":9,"v":1}""" && log(small) == whole)
    side.keys("").foreach(side.remove)
    val offsets = Seq(whole, first, small, StoredPosition(3, 9), StoredPosition(3, 9))
    for { (a, i) <- offsets.zipWithIndex; (b, j) <- offsets.zipWithIndex }
      assert(a.precedes(b) == (i <= j || a == b), s"$a, $b")
  }

  test("an entry of a concurrent run is not removed") {
    val side          = new MemorySideLog
    val (mine, other) = (open(side), open(side))
    val theirs        = other.offset(at(1, 1))
    val own           = mine.offset(at(1, 2))
    assert(own.json.contains("position-00000001") && mine(own) == at(1, 2) && other(theirs) == at(1, 1))
  }

  test("entries of offsets that Spark no longer keeps are removed, including across restarts") {
    val side    = new MemorySideLog
    val offsets = (1 to 20).map(i => open(side).offset(at(1, i.toLong)))
    open(side).purge(offsets(16))
    assert(side.keys("") == (16 to 19).map(StoredPosition.key))
    val log = open(side)
    offsets.drop(16).foreach(offset => assert(log(offset).of("east").offsets.nonEmpty))
    assert(condition(log(offsets.head)) == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
    assert(intercept[SpliceException](log(offsets.head)).getMessage.contains("position-00000000"))
  }

  test("an oldest offset without an entry removes no entry") {
    val side = new MemorySideLog
    val log  = open(side)
    (1 to 9).foreach(i => log.offset(at(1, i.toLong)))
    log.purge(at(1, 1))
    assert(side.keys("").size == 9)
  }

  test("a newer version, a foreign or a corrupt offset is rejected with a specific error") {
    assert(condition(DynamicPosition.read("""{"at":"position-00000000","v":2}""")) ==
      "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    Seq(
      """{"at":"position-00000000","v":1}""",
      """{"at":"change-00000000","change":1,"v":1}""",
      """{"at":"position-","change":1,"v":1}""",
      """{"at":"00000000","change":1,"v":1}""",
      """{"at":"position-99999999999999","change":1,"v":1}""",
      """{"at":"position-00000000","change":-1,"v":1}""",
      """{"at":"position-00000000","change":1,"clusters":{},"v":1}""",
      """{"change":1,"v":1}"""
    ).foreach(text => assert(condition(DynamicPosition.read(text)) == "SPLICE_CHECKPOINT.OTHER_SOURCE", text))
  }

  test("a corrupt or newer entry is rejected with a specific error") {
    def read(lines: String*): String = {
      val side = new MemorySideLog
      side.getOrCreate("position-00000000")(lines)
      condition(open(side)(StoredPosition(0, 1)))
    }
    assert(read("""{"change":1,"v":2}""") == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    Seq(
      Seq.empty,
      Seq("""{"change":1}"""),
      Seq("""{"v":1}"""),
      Seq("{"),
      Seq("""{"change":1,"v":1}""", """{"cluster":"east"}"""),
      Seq("""{"change":1,"v":1}""", """{"cluster":"east","offsets":{"t":{"0":-1}}}""")
    ).foreach(lines => assert(read(lines: _*) == "SPLICE_CHECKPOINT.CORRUPT", lines))
  }

  test("any position is equal after a read from its offset or its entry, and its length is computed") {
    (1 to 300).foreach { seed =>
      val random               = new Random(seed)
      def name(): String       = random.nextString(random.between(1, 4)).filterNot(Character.isSurrogate) + "\"\\.é x"
      def kafka: KafkaPosition = {
        val topics = Seq.fill(random.nextInt(4))(name()).distinct
        val at     = KafkaPosition.of(
          topics.flatMap(t => (0 to random.nextInt(4)).map(p => LogPartition(t, p * random.between(1, 50)))).distinct
            .map(_ -> (random.nextLong() & Long.MaxValue))
        )
        topics.foldLeft(at)((position, topic) => position.as(topic, random.nextInt(3)))
      }
      val position = DynamicPosition.of(random.nextInt(1000), Seq.fill(random.nextInt(5))(name() -> kafka))
      val side     = new MemorySideLog
      val stored   = new PositionEntries(side, longest = -1).offset(position)
      val back     = new PositionEntries(side, longest = -1)(DynamicPosition.read(stored.json))
      assert(
        back == position && back.hashCode == position.hashCode && DynamicPosition.read(position.json) == position,
        s"seed $seed"
      )
      assert(position.length == position.json.length, s"seed $seed")
      val further = position.updated("one-more", KafkaPosition.of(Seq(LogPartition("t", 0) -> seed.toLong)))
      assert(further != position && position != further, s"seed $seed")
    }
  }
}
