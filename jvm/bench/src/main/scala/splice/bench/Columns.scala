// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr

/** Columns that a query reads of each record. */
sealed abstract class Columns(val title: String) {
  def of(records: DataFrame): DataFrame
}

object Columns {

  case object All extends Columns("all columns") {
    override def of(records: DataFrame): DataFrame = records
  }

  case object Value extends Columns("value only") {
    override def of(records: DataFrame): DataFrame = records.select("value")
  }

  case object SumOfLengths extends Columns("sum(length(value))") {
    override def of(records: DataFrame): DataFrame = records.agg(expr("sum(length(value))"))
  }
}
