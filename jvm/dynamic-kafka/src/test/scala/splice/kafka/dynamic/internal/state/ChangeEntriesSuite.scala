// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.dynamic.internal.change.StreamsAt
import splice.source.errors.SpliceException
import splice.source.internal.entries.VersionedEntry

/** Tests of the number of changes that a side log keeps. */
final class ChangeEntriesSuite extends AnyFunSuite {

  test("a purge keeps the committed change, 1,000 changes before it, and all later changes") {
    val log     = new MemorySideLog
    val state   = StreamsAt.applied("a/t")
    val entries = new ChangeEntries(log)
    (0 to 1006).foreach(number => entries.append(state.copy(number = number)))
    val purged = new ChangeEntries(log)
    purged.purge(1004)
    Seq(purged, new ChangeEntries(log)).foreach { kept =>
      assert(kept.find(3).isEmpty && kept.find(4).exists(_.number == 4) && kept.last.exists(_.number == 1006))
    }
    assert(log.keys("change-").size == 1003)
    purged.purge(900)
    assert(log.keys("change-").size == 1003)
  }

  test("an entry with a new name of a cluster is an error that names both names") {
    val lines = AppliedMetadataFormat.write(StreamsAt.applied("far/t"))
    val named = lines.map(_.replace(""""cluster":"far",""", """"cluster":"far","scope":"west","""))
    val error = intercept[SpliceException](AppliedMetadataFormat.read(VersionedEntry.read("change-1", named)))
    assert(error.getCondition == "SPLICE_CHECKPOINT.SOURCE_CHANGED")
    assert(error.getMessage.contains("""the cluster "west" to "far"""") && named != lines)
  }
}
