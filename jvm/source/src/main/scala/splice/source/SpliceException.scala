// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.QueryExecutionException

/** A failure of a source that is not about an option: data, servers, checkpoints. Carries its condition as Spark's own errors do. PySpark
  * shows it as `QueryExecutionException`.
  */
final class SpliceException private[splice] (
    condition: String,
    sqlState: String,
    parameters: Map[String, String],
    text: String,
    cause: Option[Throwable]
) extends QueryExecutionException(text, cause.orNull)
    with SparkThrowable {
  override def getCondition: String                       = condition
  override def getErrorClass: String                      = condition
  override def getSqlState: String                        = sqlState
  override def getMessageParameters: JMap[String, String] = parameters.asJava

  /** The same error with the name of the leg that it is about. */
  private[splice] def ofLeg(leg: String): SpliceException = {
    val head = s"[$condition] "
    new SpliceException(condition, sqlState, parameters, s"${head}Leg '$leg': ${text.stripPrefix(head)}", cause)
  }
}

/** An option that is missing, unknown, or says what it must not. PySpark shows it as `IllegalArgumentException`. */
final class SpliceOptionException private[splice] (
    condition: String,
    sqlState: String,
    parameters: Map[String, String],
    text: String
) extends IllegalArgumentException(text)
    with SparkThrowable {
  override def getCondition: String                       = condition
  override def getErrorClass: String                      = condition
  override def getSqlState: String                        = sqlState
  override def getMessageParameters: JMap[String, String] = parameters.asJava
}

/** Something that a source is asked for and does not do, such as writing. PySpark shows it as `UnsupportedOperationException`. */
final class SpliceUnsupportedException private[splice] (
    condition: String,
    sqlState: String,
    parameters: Map[String, String],
    text: String
) extends UnsupportedOperationException(text)
    with SparkThrowable {
  override def getCondition: String                       = condition
  override def getErrorClass: String                      = condition
  override def getSqlState: String                        = sqlState
  override def getMessageParameters: JMap[String, String] = parameters.asJava
}
