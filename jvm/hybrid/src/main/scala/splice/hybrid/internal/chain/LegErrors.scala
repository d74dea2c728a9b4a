// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import splice.source.SourceProvider
import splice.source.errors.SpliceException

/** Adds the name of a leg to the errors of its source, on the driver and on executors.
  *
  * @param kind
  *   the source of the leg, such as `kafka`; its options get the name of the leg as their prefix
  */
final private[hybrid] class LegErrors(leg: String, kind: String) extends Serializable {

  /** Runs a call of the source, and names the leg in an error. */
  def apply[A](call: => A): A =
    try call
    catch { case e: SpliceException => throw named(e) }

  /** Returns the same error with the name of the leg. */
  def named(e: SpliceException): SpliceException = e.ofLeg(leg, isOption)

  private def isOption(key: String): Boolean = LegErrors.OfSpark(key) ||
    (!key.startsWith(s"$leg.") && SourceProvider.all.find(_.kind == kind).exists(_.options.has(key)))
}

private object LegErrors {

  /** Options of Spark's file readers that errors name. The file source passes these options on. */
  private val OfSpark = Set("ignoreMissingFiles", "ignoreCorruptFiles")
}
