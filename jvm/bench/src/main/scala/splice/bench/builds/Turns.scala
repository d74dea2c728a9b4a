// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

/** Two builds or their processes. The first of a pair alternates. */
final private[builds] case class Turns[A](base: A, current: A) {

  /** Runs both once. */
  def pair[T](number: Int)(run: A => T): (T, T) =
    if (number % 2 == 0) {
      val first = run(base)
      (first, run(current))
    } else {
      val first = run(current)
      (run(base), first)
    }
}
