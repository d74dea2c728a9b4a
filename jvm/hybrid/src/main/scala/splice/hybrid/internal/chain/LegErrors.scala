// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import splice.hybrid.HybridSourceProvider
import splice.source.SourceProvider
import splice.source.errors.SpliceException
import splice.source.options.OptionSet

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
