// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAllConfigMap, ConfigMap}

/** Suite with the seeds of a [[SeedBudget]]. `SEED=42` runs one scenario instead, and `SEED=1..100000` runs a range. A
  * running sbt server needs an argument instead, for example `-- -Dsplice.seed=42`.
  */
abstract private[splice] class SeededSuite extends AnyFunSuite with BeforeAndAfterAllConfigMap {

  private var requested = sys.env.get("SEED").map(SeedBudget.range)

  override protected def beforeAll(configuration: ConfigMap): Unit =
    configuration.get("splice.seed").foreach(text => requested = Some(SeedBudget.range(text.toString)))

  /** Seeds of a test. Reports how the seeds were chosen. */
  protected def seeds(budget: SeedBudget): Seq[Int] = requested.getOrElse {
    info(budget.text)
    budget.seeds
  }

  /** Results of the fixed seeds, which must have all situations; None if the command selects the seeds. */
  protected def fixed[A](budget: SeedBudget, results: Seq[A]): Option[Seq[A]] =
    Option.when(requested.isEmpty)(results.take(budget.fixed.size))
}
