// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

/** Failure of a step after the death of its run. Spark, Hadoop and Splice handle exceptions in more places than errors.
  */
final private[splice] class Died(step: String) extends Error(s"the run is dead: $step")
