// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** The middle of some values, the greater one of two. */
object Median {
  def apply[A: Ordering](of: Seq[A]): A = of.sorted.apply(of.size / 2)
}
