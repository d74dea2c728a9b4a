// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import splice.hybrid.{HandOver, LogColumns}
import splice.source.{OnGap, Position, Source}

/** One source of a chain.
  *
  * @param select
  *   the SELECT list over the source's rows; None = all columns as they are
  * @param handOver
  *   where it starts once the leg before has ended; None = where the source's own options say
  * @param option
  *   how errors name the option that holds the SELECT list
  * @param onDuplicates
  *   what to do when the legs before have a record several times
  * @param onHoles
  *   what to do about offsets that the legs before do not have
  * @param logColumns
  *   which of its columns name records of the log; None = those that the rule that counts it names
  */
final private[splice] case class Leg(
    name: String,
    source: Source[_ <: Position],
    select: Option[String],
    handOver: Option[HandOver],
    onGap: OnGap,
    option: String,
    onDuplicates: OnDuplicates = OnDuplicates.Fail,
    onHoles: OnHoles = OnHoles.Fill,
    logColumns: Option[LogColumns] = None
) {

  /** Its rule, if that is an exact one. */
  def exact: Option[HandOver.Offsets] = handOver.collect { case rule: HandOver.Offsets => rule }

  /** Whether exact rules ignore it. */
  def isExcluded: Boolean = logColumns.contains(LogColumns.Excluded)
}
