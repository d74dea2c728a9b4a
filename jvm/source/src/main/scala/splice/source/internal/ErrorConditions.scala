// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import org.apache.spark.ErrorClassesJsonReader

import splice.source.errors.{SpliceException, SpliceOptionException, SpliceUnsupportedException}

/** Error conditions of one module, which a JSON file defines in the format of Spark's error conditions.
  *
  * Each module has one instance of this class, which its factory objects of errors, such as `OptionErrors`, share. All
  * other code creates errors through a factory object.
  */
final private[splice] class ErrorConditions(resource: String) {

  private lazy val reader = {
    val url = Option(getClass.getClassLoader.getResource(resource))
      .getOrElse(throw new IllegalStateException(s"$resource is not on the class path"))
    new ErrorClassesJsonReader(Seq(url))
  }

  def error(condition: String, parameters: (String, String)*): SpliceException = error(condition, None, parameters)

  def error(condition: String, cause: Throwable, parameters: (String, String)*): SpliceException =
    error(condition, Some(cause), parameters)

  def option(condition: String, parameters: (String, String)*): SpliceOptionException =
    new SpliceOptionException(condition, state(condition), parameters.toMap, text(condition, parameters))

  def unsupported(condition: String, parameters: (String, String)*): SpliceUnsupportedException =
    new SpliceUnsupportedException(condition, state(condition), parameters.toMap, text(condition, parameters))

  /** Returns the text of a condition, for a warning. */
  def text(condition: String, parameters: Seq[(String, String)]): String =
    s"[$condition] ${reader.getErrorMessage(condition, parameters.toMap)}"

  private def error(condition: String, cause: Option[Throwable], parameters: Seq[(String, String)]): SpliceException =
    new SpliceException(condition, state(condition), parameters.toMap, text(condition, parameters), cause)

  private def state(condition: String): String = reader.getSqlState(condition)
}

private[splice] object ErrorConditions {

  /** Conditions of this module. */
  val OfSource = new ErrorConditions("splice/source/error-conditions.json")
}
