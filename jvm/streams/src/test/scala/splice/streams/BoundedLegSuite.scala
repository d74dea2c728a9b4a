// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import java.util.UUID

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.HandOverRule
import splice.source.internal.entries.Json
import splice.streams.fake.{FakeLog, FakeOffset, FakeProvider, FakeQuery}
import splice.testkit.internal.memory.MemoryLog

/** A stream with an end as a leg before another leg, and a stream as the last leg. */
final class BoundedLegSuite extends AnyFunSuite with LocalSpark {

  /** Chain of a stream with ten rows, and a log with other ids. The driver dies at a step. */
  private class World(dies: Int, ids: Seq[Long], more: (String, String)*) {
    val first = new FakeLog(UUID.randomUUID().toString)
    val next  = new MemoryLog(more.toMap.getOrElse("after.log", UUID.randomUUID().toString)).addPartitions(1)
    val steps = mutable.Buffer.empty[String]

    first.grow(10)
    ids.foreach(next.append(0, _))

    val query = new FakeQuery(
      Map(
        "source"         -> "hybrid",
        "legs"           -> "before,after",
        "before.source"  -> "stream",
        "before.format"  -> FakeProvider.Format,
        "before.log"     -> first.name,
        "before.bounded" -> "true",
        "before.select"  -> "id",
        "after.source"   -> "memory",
        "after.log"      -> next.name,
        "after.select"   -> "id"
      ) ++ more,
      step => {
        steps += step
        if (steps.size - 1 == dies) throw new IllegalStateException(s"the driver dies: $step")
      }
    )
  }

  test("each row is read once if the driver dies before or after any durable step") {
    val whole = new World(-1, 100L to 102L)
    whole.query.run(frozen = true)
    assert(whole.query.ids == (0L to 9L) ++ (100L to 102L))
    assert(whole.steps.exists(_ == "ended is written"))
    assert(whole.first.called.last == "stop" && whole.first.count("commit 10") == 1)
    whole.steps.indices.foreach { step =>
      Seq(true, false).foreach { frozen =>
        val world = new World(step, 100L to 102L)
        intercept[IllegalStateException](world.query.run(frozen))
        // The rows of a stream that has not ended belong to it. A stream that has ended ignores these rows.
        val hasEnded = world.query.log.scope("leg-before").get("ended").nonEmpty
        world.first.grow(5)
        world.query.run(frozen)
        val read = if (hasEnded) 0L to 9L else 0L to 14L
        assert(world.query.ids == read ++ (100L to 102L), s"after '${whole.steps(step)}', frozen=$frozen")
      }
    }
  }

  test("an ended leg is not opened again, so its connector may be removed") {
    new World(-1, 100L to 102L) {
      query.run()
      first.remove()
      next.append(0, 103)
      query.run(frozen = true)
      assert(query.ids == (0L to 9L) ++ (100L to 103L) && first.count("create") == 1)
    }
  }

  test("an exact hand-over reads the rows of the stream a second time to count their offsets") {
    def world(dies: Int) = {
      val name = UUID.randomUUID().toString
      new World(
        dies,
        0L to 12L,
        "before.text"              -> name,
        "after.handOver"           -> "offsets",
        "after.handOver.topic"     -> "text",
        "after.handOver.partition" -> "partition",
        "after.handOver.offset"    -> "id",
        "after.log"                -> name
      )
    }
    val whole = world(-1)
    whole.query.run()
    assert(whole.query.ids == (0L to 12L) && whole.first.count("plan 0 10") == 1)
    whole.steps.indices.foreach { step =>
      val dead = world(step)
      intercept[IllegalStateException](dead.query.run())
      dead.query.run()
      assert(dead.query.ids == (0L to 12L), s"after '${whole.steps(step)}'")
    }
  }

  /** Chain of a log with five rows, and a stream that begins at its fifth row. */
  private class LastLeg(step: String => Unit = _ => ()) {
    val live    = new FakeLog(UUID.randomUUID().toString)
    val archive = new MemoryLog(UUID.randomUUID().toString).addPartitions(1)
    live.grow(10)
    (0L to 4L).foreach(archive.append(0, _))
    val query = new FakeQuery(
      Map(
        "source"              -> "hybrid",
        "legs"                -> "history,live",
        "history.source"      -> "memory",
        "history.log"         -> archive.name,
        "history.bounded"     -> "true",
        "history.select"      -> "id",
        "live.source"         -> "stream",
        "live.format"         -> FakeProvider.Format,
        "live.log"            -> live.name,
        "live.select"         -> "id",
        "live.handOver"       -> "custom",
        "live.handOver.class" -> classOf[StartAtFive].getName
      ),
      step
    )
  }

  test("a stream is the last leg, and a custom rule sets its start") {
    new LastLeg {
      query.run()
      live.grow(2)
      query.run()
      assert(query.ids == (0L to 11L))
      assert(live.count("initialOffset") == 0)
    }
  }

  test("a stream has an empty folder until its leg begins, because an earlier run has no valid state") {
    var isDead = true
    new LastLeg(step => if (isDead && step == "the offset was logged") throw new IllegalStateException("dead")) {
      intercept[IllegalStateException](query.run(frozen = true))
      isDead = false
      query.run(frozen = true)
      assert(live.count("create") == 2 && live.resumptions == 0)
      query.run(frozen = true)
      assert(query.ids == (0L to 9L) && live.count("create") == 3 && live.resumptions == 1)
    }
  }
}

/** Rule that starts at the fifth row of a stream. */
final class StartAtFive extends HandOverRule {
  override def start(evidence: String): String =
    Json.write(Json.obj("position" -> Json.text(FakeOffset.text(5))))
}
