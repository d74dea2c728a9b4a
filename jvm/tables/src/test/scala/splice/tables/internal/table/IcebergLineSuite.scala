// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.table

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

import splice.source.StartAfterVersion
import splice.tables.internal.table.IcebergLine.Snapshot

/** Tests of the start of a stream after a snapshot. The number of a snapshot is also its time. */
final class IcebergLineSuite extends AnyFunSuite {

  private def snapshot(id: Long, parent: Long) =
    Snapshot(id, Some(parent).filter(_ > 0), Instant.ofEpochMilli(id))

  private def start(id: Long, current: Long)(snapshots: Snapshot*): StartAfterVersion =
    IcebergLine(snapshots, current).after(id, Instant.ofEpochMilli(id))(10 * current)

  private def offset(snapshot: Long, file: Long, hasGap: Boolean = false) = StartAfterVersion(
    s"""{"version":1,"snapshot_id":$snapshot,"position":$file,"scan_all_files":false}""",
    hasGap
  )

  test("the stream begins after the files of the current snapshot, or before the files of its child") {
    val all = Seq(snapshot(1, 0), snapshot(2, 1), snapshot(3, 2))
    assert(start(3, 3)(all: _*) == offset(3, 30))
    assert(start(1, 3)(all: _*) == offset(2, 0))
  }

  test("the snapshot itself may have expired, because its child has its id") {
    assert(start(1, 3)(snapshot(2, 1), snapshot(3, 2)) == offset(2, 0))
  }

  test("an expired child is a gap, and the stream begins with the first later snapshot") {
    assert(start(1, 4)(snapshot(3, 2), snapshot(4, 3)) == offset(3, 0, hasGap = true))
    assert(start(1, 4)(snapshot(1, 0), snapshot(3, 2), snapshot(4, 3)) == offset(3, 0, hasGap = true))
  }

  test("a snapshot of another branch is no child") {
    val branch = Seq(snapshot(1, 0), snapshot(2, 1), snapshot(3, 1))
    assert(start(1, 3)(branch: _*) == offset(3, 0))
    assert(start(2, 3)(branch: _*) == offset(3, 0, hasGap = true))
  }

  test("a table that was rolled back before the snapshot has a gap after the current snapshot") {
    assert(start(3, 1)(snapshot(1, 0), snapshot(2, 1), snapshot(3, 2)) == offset(1, 10, hasGap = true))
  }
}
