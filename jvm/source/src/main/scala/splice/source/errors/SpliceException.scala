// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.errors

import java.util.regex.Matcher
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.QueryExecutionException

/** Common properties of all errors of Splice, as in Spark's errors: condition, SQLSTATE and parameters. */
sealed private[splice] trait SpliceError extends SparkThrowable {
  private[splice] def condition: String
  private[splice] def sqlState: String
  private[splice] def parameters: Map[String, String]

  /** The message without the SQLSTATE, for a warning and as a part of another message. */
  private[splice] def text: String

  override def getCondition: String                       = condition
  override def getErrorClass: String                      = condition
  override def getSqlState: String                        = sqlState
  override def getMessageParameters: JMap[String, String] = parameters.asJava
}

private[splice] object SpliceError {

  /** Returns the text with its SQLSTATE, as in the messages of Spark's errors. An exception that wraps the error, such as
    * a StreamingQueryException, shows only the message.
    */
  def message(text: String, sqlState: String): String = s"$text SQLSTATE: $sqlState"

  /** Returns the message of any error as a part of another message, which has one SQLSTATE of Splice. */
  def text(error: Throwable): String = error match {
    case e: SpliceError => e.text
    case e              => Option(e.getMessage).getOrElse(e.toString)
  }
}

/** Failure of a source that no option caused, but data, a server or a checkpoint. PySpark raises this error as
  * `QueryExecutionException`.
  */
final class SpliceException private[splice] (
    private[splice] val condition: String,
    private[splice] val sqlState: String,
    private[splice] val parameters: Map[String, String],
    private[splice] val text: String,
    cause: Option[Throwable],
    isOfLeg: Boolean = false
) extends QueryExecutionException(SpliceError.message(text, sqlState), cause.orNull)
    with SpliceError {

  /** Returns the same error of a leg. The text names the leg, and each option has the name of the leg as its prefix.
    * Returns this error if this error already names a leg.
    *
    * @param isOption
    *   true for the key of an option of the leg
    */
  private[splice] def ofLeg(leg: String, isOption: String => Boolean): SpliceException = if (isOfLeg) this
  else {
    val head  = s"[$condition] "
    val named = SpliceException.Quoted.replaceAllIn(
      text.stripPrefix(head),
      quoted =>
        Matcher.quoteReplacement(if (isOption(quoted.group(1))) s"'$leg.${quoted.group(1)}'" else quoted.matched)
    )
    val place = if (named.contains(s"Leg '$leg'")) "" else s"Leg '$leg': "
    val error = new SpliceException(condition, sqlState, parameters, s"$head$place$named", cause, isOfLeg = true)
    error.setStackTrace(getStackTrace)
    error
  }
}

private object SpliceException {

  /** Text in single quotes that may be the key of an option. */
  private val Quoted = """'([A-Za-z][\w.*-]*)'""".r
}

/** Error for a missing, unknown or invalid option. PySpark raises this error as `IllegalArgumentException`. */
final class SpliceOptionException private[splice] (
    private[splice] val condition: String,
    private[splice] val sqlState: String,
    private[splice] val parameters: Map[String, String],
    private[splice] val text: String
) extends IllegalArgumentException(SpliceError.message(text, sqlState))
    with SpliceError

/** Error for an operation that a source does not support, such as a write. PySpark raises this error as
  * `UnsupportedOperationException`.
  */
final class SpliceUnsupportedException private[splice] (
    private[splice] val condition: String,
    private[splice] val sqlState: String,
    private[splice] val parameters: Map[String, String],
    private[splice] val text: String
) extends UnsupportedOperationException(SpliceError.message(text, sqlState))
    with SpliceError
