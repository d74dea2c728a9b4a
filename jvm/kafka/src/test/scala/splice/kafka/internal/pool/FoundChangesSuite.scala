// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import org.apache.kafka.common.TopicPartition
import org.scalatest.funsuite.AnyFunSuite

final class FoundChangesSuite extends AnyFunSuite {

  test("the numbers of remembered deleted topics and truncated logs are limited") {
    val found = new FoundChanges
    val log   = new TopicPartition("t", 0)
    (0 until 1001).foreach { n =>
      found.deleted(s"id-$n")
      found.truncated(s"id-$n", log, FoundChanges.Cut(50, 100))
    }
    assert(!found.isDeleted("id-0") && found.isDeleted("id-1") && found.isDeleted("id-1000"))
    assert(found.truncation("id-0", log, 100).isEmpty && found.truncation("id-1000", log, 100).nonEmpty)
  }

  test("a truncation applies to positions after its first other record, up to the position that found it") {
    val found = new FoundChanges
    val log   = new TopicPartition("t", 0)
    found.truncated("id", log, FoundChanges.Cut(50, 100))
    assert((48L to 102L).filter(found.truncation("id", log, _).nonEmpty) == (51L to 100L))
    assert(found.truncation("id", new TopicPartition("t", 1), 100).isEmpty)
    assert(found.truncation("other", log, 100).isEmpty)
  }
}
