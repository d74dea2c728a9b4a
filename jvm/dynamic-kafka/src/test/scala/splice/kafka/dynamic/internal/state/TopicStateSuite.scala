// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.Instant

import scala.collection.immutable.SortedSet

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.Place
import splice.kafka.dynamic.DocsPage
import splice.kafka.dynamic.internal.change.StreamsAt
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.internal.split.KafkaPosition

/** Tests of the transition table of topics and its copy in the documentation. */
final class TopicStateSuite extends AnyFunSuite {

  import StreamsAt._

  private val t0   = Instant.parse("2026-01-01T00:00:00Z")
  private val t1   = t0.plusSeconds(1)
  private val time = Place.At(t0)
  private val five = kafka("x", 5)
  private val left = Removed("s", t0, five, kafka("x", 6))
  private val old  = SortedSet(topic("a/x"))

  private val states: Seq[(String, Option[TopicState])] = Seq(
    "(none)"   -> None,
    "waiting"  -> Some(Waiting("s", Some(time), None)),
    "pending"  -> Some(Pending(Waiting("s", Some(time), None), t0)),
    "reading"  -> Some(Reading("s")),
    "draining" -> Some(Draining("s", t0, Bound.At(time))),
    "removed"  -> Some(left),
    "gone"     -> Some(Gone)
  )

  private val events: Seq[(String, TopicEvent)] = Seq(
    "a document lists the topic"                    -> TopicEvent.Listed("s", old, None),
    "a document lists the topic with the same stop" -> TopicEvent.Stays("s"),
    "a document or a response sets the start"       -> TopicEvent.Listed("s", old, Some(TopicEvent.Start(five))),
    "a document moves a stream to the topic at a time, or sets the start" -> TopicEvent.ListedAt("s", Some(time)),
    "no document lists the topic, `onRemoved` = drain" -> TopicEvent.Unlisted(t1, five, drains = true),
    "no document lists the topic, `onRemoved` = drop"  -> TopicEvent.Unlisted(t1, five, drains = false),
    "no document lists the topic, and rows from its unknown start are to be read" -> TopicEvent.Unbegun(t1),
    "a cutover, a stop or a response bounds the drain"                   -> TopicEvent.Bounded(t1, Bound.Ends(five)),
    "a cluster returns the offsets for the time of a cutover that waits" -> TopicEvent.AtTime(five),
    "an outage of the cluster begins or ends"                            -> TopicEvent.Outage(Some(t1)),
    "the bound is reached, or the remaining rows are abandoned"          -> TopicEvent.Ended(t1, five),
    "`removedRetention` is over"                                         -> TopicEvent.RetentionOver
  )

  private def table: String = {
    def word(state: Option[TopicState]) = state.fold("(none)")(_.word)
    def row(cells: Seq[String])         = cells.mkString("| ", " | ", " |")
    val lines                           = events.map { case (name, event) =>
      row(name +: states.map { case (_, state) =>
        val next = TopicState.next(state, event)
        if (next == state) "–" else word(next)
      })
    }
    (row("event" +: states.map(_._1)) +: row(Seq.fill(states.size + 1)("---")) +: lines).mkString("\n")
  }

  private def members(of: Class[_]): Set[Class[_]] =
    of.getDeclaredClasses.toSet.filter(member => of.isAssignableFrom(member) && !member.isInterface)

  test("the table has each state and each event of the code") {
    assert(states.flatMap(_._2).map(_.getClass).toSet[Class[_]] == members(classOf[TopicState]))
    assert(events.map(_._2.getClass).toSet[Class[_]] == members(classOf[TopicEvent]))
  }

  test("the documentation has the table of the code") {
    assert(DocsPage("architecture.md").contains(table), s"docs/architecture.md needs this table:\n$table\n")
  }

  test("a removed topic resumes at its position only within its retention") {
    assert(next(Some(left), TopicEvent.Listed("t", old, None)).contains(Reading("t", old, Some(five), left.expected)))
    assert(next(Some(left.copy(position = KafkaPosition.Empty)), TopicEvent.Listed("t", old, None))
      .contains(Reading("t", old, None, left.expected)))
    val waiting = Waiting("t", None, Some(Gone))
    assert(next(Some(Gone), TopicEvent.Listed("t", old, None)).contains(waiting))
    assert(next(Some(waiting), TopicEvent.Listed("t", old, Some(TopicEvent.Start(kafka("x", 9)))))
      .contains(Reading("t", old, Some(kafka("x", 9)))))
  }

  test("a topic that waits for a time returns to its earlier state if the move is reverted") {
    Seq(None, Some(left), Some(Gone)).foreach { before =>
      val waiting = next(before, TopicEvent.ListedAt("s", Some(time)))
      assert(waiting.contains(Waiting("s", Some(time), before.collect { case is: Left => is })))
      assert(next(waiting, TopicEvent.Unlisted(t1, KafkaPosition.Empty, drains = true)) == before)
      // A later document without the cutover does not start the topic.
      assert(next(waiting, TopicEvent.Listed("s", old, None)) == waiting)
    }
  }

  test("a drain keeps its start when its end is determined, and its outage until the cluster responds") {
    val drain = next(Some(Reading("s", old, expected = five)), TopicEvent.Unlisted(t0, five, drains = true))
    assert(drain.contains(Draining("s", t0, Bound.Requested, old, five)))
    val bounded = next(drain, TopicEvent.Bounded(t1, Bound.Ends(five)))
    assert(bounded.contains(Draining("s", t0, Bound.Ends(five), old, five)))
    val failing = next(bounded, TopicEvent.Outage(Some(t1)))
    assert(failing.contains(Draining("s", t0, Bound.Ends(five), old, five, Some(t1))))
    assert(next(failing, TopicEvent.Outage(None)) == bounded)
    assert(next(bounded, TopicEvent.Ended(t1, five)).contains(Removed("s", t1, five, five)))
  }
}
