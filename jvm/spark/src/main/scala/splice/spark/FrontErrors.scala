// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import splice.source.{ErrorConditions, LegIdentity, SpliceUnsupportedException}

/** Errors of the front that Spark sees. */
private[spark] object FrontErrors {

  private val conditions = new ErrorConditions("splice/spark/error-conditions.json")

  def writing(kind: String): SpliceUnsupportedException = conditions.unsupported("SPLICE_READ_ONLY", "source" -> kind)

  def noRealTime(kind: String): SpliceUnsupportedException =
    conditions.unsupported("SPLICE_REAL_TIME.SOURCE_NOT_SUPPORTED", "source" -> kind)

  def noRealTime(leg: LegIdentity): SpliceUnsupportedException =
    conditions.unsupported(
      "SPLICE_REAL_TIME.LEG_NOT_SUPPORTED",
      "leg"    -> leg.name.getOrElse(""),
      "source" -> leg.source
    )

  def limitsInRealTime(options: Seq[String]): SpliceUnsupportedException =
    conditions.unsupported(
      "SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED",
      "options" -> options.map(o => s"'$o'").mkString(", ")
    )
}
