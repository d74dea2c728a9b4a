// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.value

import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types.{BinaryType, StructType}

/** The records of a log whose values are parsed. Tasks receive the object. */
private[splice] trait ParsedLog extends Serializable {

  /** All columns of a record. The column `value` is binary. */
  def columns: StructType

  /** Names of the columns that identify a record. Errors and the column `_corrupt` contain these columns. */
  def id: Seq[String]

  /** Returns the error of a value that cannot be parsed.
    *
    * @param record
    *   values of the columns `id`
    */
  def invalid(record: Seq[Any], settings: ValueSettings, cause: Throwable): Throwable

  /** Returns the metric of the number of values that could not be parsed. */
  def parseErrors(count: () => Long): CustomTaskMetric

  /** The type of the column `_corrupt`. */
  final def corrupt: StructType = StructType(id.map(name => columns(name))).add("bytes", BinaryType)
}

private[splice] object ParsedLog {

  /** The column of records with values that Splice could not parse. */
  val Corrupt = "_corrupt"
}
