// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.testkit.ReadOnlySideLog

/** Tests of a view that does not change its side log. */
final class TrialSideLogSuite extends AnyFunSuite {

  test("entries of the view, and removals in the view, do not change the side log") {
    val log  = new MemorySideLog
    val _    = log.getOrCreate("change-1")(Seq("stored"))
    val view = new TrialSideLog(new ReadOnlySideLog(log))
    assert(view.getOrCreate("change-1")(Seq("other")) == Seq("stored"))
    assert(view.getOrCreate("change-2")(Seq("new")) == Seq("new"))
    assert(view.getOrCreate("change-2")(Seq("other")) == Seq("new"))
    assert(view.keys("change-") == Seq("change-1", "change-2"))
    view.remove("change-1")
    assert(view.get("change-1").isEmpty && view.keys("change-") == Seq("change-2"))
    assert(view.scope("a").getOrCreate("x")(Seq("1")) == Seq("1"))
    assert(view.scope("a").get("x").contains(Seq("1")) && view.scope("b").get("x").isEmpty)
    assert(log.keys("") == Seq("change-1") && log.scope("a").get("x").isEmpty)
  }
}
