// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.util.SplittableRandom

/** All that is left to chance in one history; the same seed gives the same answers to the same questions. Used by one thread. */
final class Chance(seed: Long) {

  private val random = new SplittableRandom(seed)

  /** True once in `n` times. */
  def oneIn(n: Int): Boolean = random.nextInt(n) == 0

  /** A number from `from` to `to`, both included. */
  def between(from: Int, to: Int): Int = random.nextInt(from, to + 1)

  /** One of several; `options` must not be empty. */
  def oneOf[T](options: Seq[T]): T = options(random.nextInt(options.size))
}
