// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** How many letters must be put in, taken out or changed to make one word of another (Levenshtein). */
private[splice] object EditDistance {

  def apply(a: String, b: String): Int =
    a.foldLeft((0 to b.length).toVector) { (above, letter) =>
      b.indices.scanLeft(above.head + 1) { (left, j) =>
        val change = above(j) + (if (b(j) == letter) 0 else 1)
        math.min(math.min(left, above(j + 1)) + 1, change)
      }.toVector
    }.last
}
