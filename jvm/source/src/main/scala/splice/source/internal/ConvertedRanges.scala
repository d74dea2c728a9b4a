// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import splice.source.SplitRange

/** Converts the results of [[SplitReader.unread]] of one reader. These lists share all ranges except the first range,
  * and the converted lists also share these ranges. Used by one thread.
  */
final private[splice] class ConvertedRanges[T <: SplitRange](convert: SplitRange => T) {

  private var inner = List.empty[SplitRange]
  private var outer = List.empty[T]

  def apply(unread: Seq[SplitRange]): List[T] = unread.toList match {
    case first :: others =>
      if (others ne inner) {
        outer = others.map(convert)
        inner = others
      }
      convert(first) :: outer
    case Nil => Nil
  }
}
