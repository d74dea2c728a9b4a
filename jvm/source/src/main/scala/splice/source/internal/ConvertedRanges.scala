// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import splice.source.SplitRange

/** Converts the results of [[SplitReader.unread]] of one reader, which are lists that share all ranges but the first one. So do the results.
  * One thread uses it.
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
