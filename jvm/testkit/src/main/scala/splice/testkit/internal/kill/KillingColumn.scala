// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import org.apache.spark.sql.api.java.UDF1

/** SQL function that returns its argument and reports each row to the [[KillSwitch]]. A plan can therefore kill the
  * process within a task.
  */
final private[splice] class KillingColumn extends UDF1[String, String] {
  override def call(id: String): String = {
    KillSwitch.passesRow(id)
    id
  }
}
