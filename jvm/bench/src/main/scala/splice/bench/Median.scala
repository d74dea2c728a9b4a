// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Median of values; the greater of two middle values. */
object Median {
  def apply[A: Ordering](of: Seq[A]): A = of.sorted.apply(of.size / 2)
}
