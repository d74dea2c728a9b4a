// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.kafka.common.Uuid
import org.scalatest.funsuite.AnyFunSuite

final class TopicIdsSuite extends AnyFunSuite {

  final private class World(var now: Map[String, String]) {
    var responses = 1L
    val requested = mutable.ArrayBuffer.empty[Set[String]]
    val ids       = new TopicIds(
      () => responses,
      { planned: Map[String, String] =>
        requested += planned.keySet
        now.filter { case (topic, _) => planned.contains(topic) }
      }
    )

    def others(planned: Map[String, String], polled: String*): Set[String] =
      ids.others(planned, topic => polled.isEmpty || polled.contains(topic))
  }

  private val both = Map("a" -> "1", "b" -> "2")

  test("ids are requested once, and again only after a metadata response of the consumer") {
    val w = new World(both)
    assert(Seq.fill(3)(w.others(both)).forall(_.isEmpty))
    assert(w.requested == Seq(Set("a", "b")))
    w.responses += 1
    assert(Seq.fill(3)(w.others(both)).forall(_.isEmpty))
    assert(w.requested.size == 2)
  }

  test("another task requests only its new topics") {
    val w = new World(both)
    w.others(Map("a" -> "1"))
    assert(w.others(Map("a" -> "1")).isEmpty && w.others(both).isEmpty)
    assert(w.requested == Seq(Set("a"), Set("b")))
  }

  test("a recreated topic is reported each time, and its old consumer is not reused") {
    val w = new World(both)
    w.others(both)
    w.now = Map("a" -> "3", "b" -> "2")
    assert(w.others(both).isEmpty, "fetched records belong to the old topic")
    w.responses += 1
    assert(w.others(both) == Set("a") && w.others(both) == Set("a"))
    assert(w.ids.allow(both) && w.ids.allow(Map("c" -> "9")) && !w.ids.allow(Map("a" -> "3")))
  }

  test("a deleted topic is not reported as recreated, and is requested again") {
    val w = new World(both)
    w.now = Map("b" -> "2")
    assert(w.others(both).isEmpty && w.others(both).isEmpty)
    assert(w.requested == Seq(Set("a", "b"), Set("a")))
    w.now = Map("a" -> "3", "b" -> "2")
    assert(w.others(both) == Set("a"))
  }

  test("one request per response includes all topics, and topics without polled records are not requested") {
    val w = new World(Map("b" -> "2"))
    assert(Seq.fill(20)(w.others(both, "b")).forall(_.isEmpty))
    assert(w.requested == Seq(Set("a", "b")))
    w.responses += 1
    assert(Seq.fill(20)(w.others(both, "b")).forall(_.isEmpty))
    assert(w.requested == Seq(Set("a", "b"), Set("a", "b")))
    assert(w.others(both, "a").isEmpty && w.requested.last == Set("a"))
  }

  test("missing topics are requested after a metadata response, and at each call while one is missing") {
    val w = new World(both)
    assert(Seq.fill(3)(w.ids.missing(both)).forall(_.contains(Set.empty)) && w.requested == Seq(Set("a", "b")))
    w.now = Map("b" -> "2")
    assert(w.ids.missing(both).contains(Set.empty) && w.requested.size == 1)
    w.responses += 1
    assert(w.ids.missing(both).contains(Set("a")) && w.requested.size == 2)
    assert(w.ids.missing(both).contains(Set("a")) && w.requested.size == 3)
    w.now = Map("a" -> "3", "b" -> "2")
    assert(w.ids.missing(both).contains(Set.empty), "a recreated topic is another topic and not missing")
  }

  test("a topic without a previous request is requested even if other topics exist at the same response") {
    val w = new World(Map("b" -> "2"))
    assert(w.ids.missing(Map("b" -> "2")).contains(Set.empty) && w.requested.size == 1)
    assert(w.ids.missing(Map("a" -> "1")).contains(Set("a")) && w.requested.size == 2)
    assert(w.ids.missing(Map("b" -> "2")).contains(Set.empty) && w.requested.size == 2)
  }

  test("no topic is known as present or missing while a request is running") {
    var response = Option.empty[Set[String]]
    val ids      = new TopicIds(
      () => 1L,
      new TopicIds.Request {
        override def apply(planned: Map[String, String]): Map[String, String]   = planned
        override def missing(planned: Map[String, String]): Option[Set[String]] = response
      }
    )
    assert(ids.missing(both).isEmpty)
    response = Some(Set("a"))
    assert(ids.missing(both).contains(Set("a")))
    response = None
    assert(ids.missing(both).isEmpty && ids.missing(Map("b" -> "2")).contains(Set.empty))
  }

  test("no request is sent without topic ids") {
    val w = new World(Map.empty)
    assert(w.others(Map.empty).isEmpty && w.requested.isEmpty)
  }

  test("ids in the consumer's metadata need no request, and missing or different ids are requested") {
    val first     = Uuid.randomUuid
    val second    = Uuid.randomUuid
    val fetched   = mutable.Map("a" -> first, "b" -> second)
    val requested = mutable.ArrayBuffer.empty[Set[String]]
    val ids       = TopicIds.ofConsumer(
      () => fetched.asJava,
      { planned =>
        requested += planned.keySet
        planned - "gone"
      }
    )
    val planned = Map("a" -> first.toString, "b" -> second.toString)
    assert(ids(planned) == planned && requested.isEmpty)
    val third = Uuid.randomUuid
    fetched("b") = third
    fetched("gone") = third
    val more = planned ++ Map("gone" -> first.toString, "unknown" -> first.toString)
    assert(ids(more) == more - "gone" && requested == Seq(Set("b", "gone", "unknown")))
    assert(ids.missing(more).contains(Set("gone")), "a missing topic is requested from a broker")
    assert(requested.last == more.keySet)
  }
}
