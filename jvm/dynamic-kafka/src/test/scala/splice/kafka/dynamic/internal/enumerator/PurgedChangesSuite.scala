// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import scala.util.Using

import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.source.StartPosition

/** Tests of queries with many changes of the metadata. */
final class PurgedChangesSuite extends RemovedTopics {

  private val changes = 1100

  test("a commit removes old changes, and a later run continues without these changes") {
    val world        = simulated()
    def stored       = world.side.keys("change-").size
    val (first, one) = Using.resource(world.start()) { run =>
      fill(world, east, 1)
      readAll(run, world.begin(StartPosition.Configured, run))
    }
    val entries = new ChangeEntries(world.side)
    (1 to changes).foreach(number => entries.append(entries(0).copy(number = number)))
    fill(world, east, 1)
    val (second, two) = Using.resource(world.start()) { run =>
      val (end, read) = readAll(run, world.source.position(first.json))
      assert(stored == changes + 1)
      run.committed(first)
      assert(stored == changes + 1)
      run.committed(end)
      assert(stored == 1001)
      end -> read
    }
    fill(world, east, 1)
    val (_, three) = Using.resource(world.start())(run => readAll(run, world.source.position(second.json)))
    assert(one ++ two ++ three == all(east, 3))
  }
}
