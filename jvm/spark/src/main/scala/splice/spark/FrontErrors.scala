// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import splice.source.{ErrorConditions, SpliceException}

/** Errors of the front that Spark sees. */
private[spark] object FrontErrors {

  private val conditions = new ErrorConditions("splice/spark/error-conditions.json")

  def writing(kind: String): SpliceException = conditions.error("SPLICE_READ_ONLY", "source" -> kind)
}
