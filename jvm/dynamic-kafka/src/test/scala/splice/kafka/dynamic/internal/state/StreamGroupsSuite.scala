// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.Instant

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.change.StreamsAt
import splice.kafka.dynamic.internal.state.TopicState._
import splice.kafka.dynamic.{KafkaStream, StreamMetadata}

/** Tests of the streams that a document changes together. */
final class StreamGroupsSuite extends AnyFunSuite {

  import StreamsAt.{kafka, topic}

  private val t0 = Instant.parse("2026-01-01T00:00:00Z")

  /** Document with the topics of each stream, as `cluster/topic` texts. */
  private def document(streams: (String, Seq[String])*): StreamMetadata = StreamMetadata(
    None,
    SortedMap.empty,
    SortedMap.from(streams.map { case (name, topics) =>
      val byCluster = topics.map(topic(_)).groupMap(_.cluster)(_.topic)
      name -> KafkaStream(name, SortedMap.from(byCluster.map { case (c, names) => c -> SortedSet.from(names) }))
    })
  )

  private def applied(streams: (String, Seq[String])*): AppliedMetadata = AppliedMetadata.first(document(streams: _*))

  private def groups(before: AppliedMetadata, streams: (String, Seq[String])*): Set[Set[String]] = {
    val found = StreamGroups.changed(before, document(streams: _*)).map(_.streams)
    assert(found.flatten.distinct.size == found.map(_.size).sum, s"a stream is in several groups: $found")
    found.toSet[Set[String]]
  }

  test("streams without a common topic are separate groups, and an unchanged stream is in no group") {
    val before = applied("a" -> Seq("e/x"), "b" -> Seq("e/y"), "c" -> Seq("e/z"), "d" -> Seq("e/v"))
    // The topics of 'c' and 'f' have the same name on different clusters, and 'd' is removed.
    assert(groups(before, "a" -> Seq("e/x", "e/x2"), "b" -> Seq("e/y"), "c" -> Seq("e/u"), "f" -> Seq("w/z")) ==
      Set(Set("a"), Set("c"), Set("d"), Set("f")))
    assert(groups(before, "a" -> Seq("e/x"), "b" -> Seq("e/y"), "c" -> Seq("e/z"), "d" -> Seq("e/v")).isEmpty)
  }

  test("a topic of one stream before a document and of another stream after the document joins these streams") {
    val before = applied("a" -> Seq("e/t", "e/x"), "b" -> Seq("e/y"))
    assert(groups(before, "a" -> Seq("e/x"), "b" -> Seq("e/t", "e/y")) == Set(Set("a", "b")))
    // The second stream is new, the first stream is removed, or the streams exchange their topics.
    assert(groups(before, "a" -> Seq("e/x"), "b" -> Seq("e/y"), "c" -> Seq("e/t")) == Set(Set("a", "c")))
    assert(groups(before, "b" -> Seq("e/t", "e/x", "e/y")) == Set(Set("a", "b")))
    assert(groups(before, "a" -> Seq("e/y"), "b" -> Seq("e/t", "e/x")) == Set(Set("a", "b")))
  }

  test("streams that share topics with a third stream are one group with that stream") {
    val before = applied("a" -> Seq("e/t"), "b" -> Seq("e/u"), "c" -> Seq("e/v"), "d" -> Seq("e/w"), "f" -> Seq("e/x"))
    val chain  = Seq("a" -> Seq("e/new"), "b" -> Seq("e/t"), "c" -> Seq("e/u", "e/v"))
    assert(groups(before, chain ++ Seq("d" -> Seq("e/w", "e/w2"), "f" -> Seq("e/x")): _*) ==
      Set(Set("a", "b", "c"), Set("d")))
    // A second chain is a separate group, unless the chains have a common stream.
    assert(groups(before, chain ++ Seq("d" -> Seq("e/y"), "f" -> Seq("e/w", "e/x")): _*) ==
      Set(Set("a", "b", "c"), Set("d", "f")))
    assert(groups(before, chain.init ++ Seq("c" -> Seq("e/u", "e/w"), "d" -> Seq("e/v"), "f" -> Seq("e/x")): _*) ==
      Set(Set("a", "b", "c", "d")))
  }

  test("a removed topic belongs to its last stream until its retention is over") {
    val before = applied("a" -> Seq("e/x"), "b" -> Seq("e/y"))

    def returned(states: (String, TopicState)*): Set[Set[String]] = {
      val all = states.map { case (name, state) => topic(name) -> state }
      groups(before.copy(topics = before.topics ++ all), "a" -> Seq("e/x"), "b" -> Seq("e/t", "e/y"))
    }

    Seq[TopicState](
      Waiting("a", None, Some(Gone)),
      Draining("a", t0, Bound.Requested),
      Removed("a", t0, kafka("t", 5))
    ).foreach(state => assert(returned("e/t" -> state) == Set(Set("a", "b")), state))
    assert(returned("e/t" -> Gone) == Set(Set("b")))
    assert(returned("e/t" -> Removed("b", t0, kafka("t", 5))) == Set(Set("b")))
    // A stream that no longer exists is in no group.
    assert(returned("e/t" -> Removed("old", t0, kafka("t", 5))) == Set(Set("b")))
  }

  test("an unchanged stream is in a group if two other streams list its removed topics") {
    val before = applied("a" -> Seq("e/x"), "b" -> Seq("e/y"), "c" -> Seq("e/z"))
    val left   = Seq("t", "u").map(name => topic(s"e/$name") -> Removed("b", t0, kafka(name, 5)))
    val now    = before.copy(topics = before.topics ++ left)
    assert(groups(now, "a" -> Seq("e/t", "e/x"), "b" -> Seq("e/y"), "c" -> Seq("e/u", "e/z")) ==
      Set(Set("a", "b", "c")))
  }

  test("the part of a group has the streams of the group from the document, and the other streams as before") {
    val before = applied("a" -> Seq("e/t"), "b" -> Seq("e/y"), "c" -> Seq("e/z"))
    val after  = document("b" -> Seq("e/t", "e/y"), "c" -> Seq("e/u"), "d" -> Seq("e/v"))
    val part   = StreamGroups.part(before, after, Set("a", "b"))
    assert(part.streams == SortedMap("b" -> after.streams("b"), "c" -> before.streams("c")))
    assert(StreamGroups.part(before, after, _ => false).streams == before.streams)
    assert(StreamGroups.part(before, after, _ => true).streams == after.streams)
  }
}
