// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import org.apache.spark.sql.api.java.UDF1

/** SQL function that returns its argument and reports each row to a run. A plan can therefore kill the run within a
  * task.
  *
  * @param name
  *   name of the run. Empty = the run of the process
  */
final private[splice] class KillingColumn(name: String) extends UDF1[String, String] {

  def this() = this("")

  @transient private lazy val run = KillSwitch.run(name)

  override def call(id: String): String = {
    run.passesRow(id)
    id
  }
}
