// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import org.apache.spark.sql.api.java.UDF1

/** A function of SQL that gives its argument back, and passes each row by the [[KillSwitch]]: a kill in the middle of a task. */
final private[splice] class KillingColumn extends UDF1[String, String] {
  override def call(id: String): String = {
    KillSwitch.passesRow(id)
    id
  }
}
