// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import splice.hybrid.{HandOver, HybridSourceProvider, LogColumns}
import splice.source.errors.SpliceException
import splice.source.options.{FailOrWarn, OptionSet}
import splice.source.{Position, Source, SourceProvider}

/** Source of a chain, with its options.
  *
  * @param select
  *   SELECT list over the rows of the source; None = all columns unchanged
  * @param handOver
  *   rule that computes the start after the end of the previous leg; None = the options of the source set the start
  * @param option
  *   name of the option with the SELECT list, for errors
  * @param onDuplicates
  *   policy for records that the previous legs have several times
  * @param onHoles
  *   policy for offsets that the previous legs lack
  * @param logColumns
  *   columns that identify records of the log; None = the columns of the rule that counts the leg
  */
final private[splice] case class Leg(
    name: String,
    source: Source[_ <: Position],
    select: Option[String],
    handOver: Option[HandOver],
    onGap: FailOrWarn,
    option: String,
    onDuplicates: FailOrWarn = FailOrWarn.Fail,
    onHoles: OnHoles = OnHoles.Fill,
    logColumns: Option[LogColumns] = None
) {

  /** Names the leg in errors of its source. */
  def errors: LegErrors = new LegErrors(name, source.kind)

  /** Hand-over rule of the leg, if the rule is exact. */
  def exact: Option[HandOver.Offsets] = handOver.collect { case rule: HandOver.Offsets => rule }

  /** True if exact rules ignore the leg. */
  def isExcluded: Boolean = logColumns.contains(LogColumns.Excluded)
}

/** Adds the name of a leg to the errors of its source, on the driver and on executors.
  *
  * @param kind
  *   the source of the leg, such as `kafka`; its options and the options of each leg, such as `onGap`, get the name of
  *   the leg as their prefix
  */
final private[hybrid] class LegErrors(val leg: String, kind: String) extends Serializable {

  @transient private lazy val options: Seq[OptionSet] =
    SourceProvider.all.filter(_.kind == kind).map(_.options) :+ HybridSourceProvider.legOptions

  /** Runs a call of the source, and names the leg in an error. */
  def apply[A](call: => A): A =
    try call
    catch { case e: SpliceException => throw named(e) }

  /** Returns the same error with the name of the leg. */
  def named(e: SpliceException): SpliceException = e.ofLeg(leg, key => options.exists(_.has(key)))
}
