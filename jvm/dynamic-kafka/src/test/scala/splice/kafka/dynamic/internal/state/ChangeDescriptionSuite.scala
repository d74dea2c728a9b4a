// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.change.StreamsAt
import splice.kafka.dynamic.internal.state.TopicState.Removed

/** Tests of the text about a change. */
final class ChangeDescriptionSuite extends AnyFunSuite {

  import StreamsAt._

  test("a rename of a cluster does not repeat the abandoned rows of its topics") {
    val lost = Abandoned(Some(3), "3 rows are not read")
    val base = applied("a/x")
    val from =
      base.copy(topics =
        base.topics + (topic("a/y") -> Removed("s", Instant.EPOCH, kafka("y", 5), abandoned = Some(lost)))
      )
    val now = from.renamed(SortedMap("a" -> "b")).copy(number = 1)
    assert(now.topics(topic("b/y")).abandoned.contains(lost))
    assert(ChangeDescription(from, now) == Seq(ChangeDescription("clusterRenamed", Seq("a to b"))))
    assert(ChangeDescription.abandoned(from, now).isEmpty && ChangeDescription.warnings(from, now).isEmpty)
  }
}
