// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.admission

import splice.kafka.internal.admission.EventTimeLogs
import splice.testkit.internal.simulation.{SeedBudget, SeededSuite}
import splice.testkit.simulation.Simulation

/** Tests of batches that end at one time in all clusters. */
final class EventTimeClustersSuite extends SeededSuite {

  import EventTimeClustersSuite._

  test(
    "random clusters: no row is dropped that its own partition, or a batch planned before the row, does not explain"
  ) {
    val all      = seeds(Budget)
    val outcomes = Simulation.run(Runtime.getRuntime.availableProcessors, all)(new EventTimeClusters(_).run())
    val failed   = all.zip(outcomes).collect { case (seed, EventTimeLogs.Outcome(Some(text), _)) => s"$seed: $text" }
    assert(failed.isEmpty, s"${failed.size} worlds")
    fixed(Budget, outcomes).foreach(own => assert(EventTimeLogs.rare(own, Situations).isEmpty))
  }
}

object EventTimeClustersSuite {

  private val Budget = SeedBudget(1 to 5000, 1 to 850, window = 50)

  private val Situations = EventTimeLogs.Situations ++
    Seq("limit of a cluster", "silent cluster", "inactive cluster", "cutover")
}
