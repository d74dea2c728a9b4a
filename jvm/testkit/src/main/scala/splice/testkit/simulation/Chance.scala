// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.util.SplittableRandom

/** Random choices of one scenario. The same seed returns the same results for the same sequence of calls. Not
  * thread-safe.
  */
final class Chance(seed: Long) {

  private val random = new SplittableRandom(seed)

  /** True with probability 1/n. */
  def oneIn(n: Int): Boolean = random.nextInt(n) == 0

  /** Random number from `from` to `to`, both included. */
  def between(from: Int, to: Int): Int = random.nextInt(from, to + 1)

  /** Random element of `options`, which must not be empty. */
  def oneOf[T](options: Seq[T]): T = options(random.nextInt(options.size))
}
