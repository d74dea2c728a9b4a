// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import org.apache.spark.sql.internal.SQLConf

/** Names and types of columns, in the form that a hybrid compares. */
private[splice] object HybridColumns {

  /** The metadata column with the name of a row's leg. */
  val Leg = "_leg"

  /** True if both names denote the same column in this session. */
  def same(a: String, b: String): Boolean = SQLConf.get.resolver(a, b)
}
