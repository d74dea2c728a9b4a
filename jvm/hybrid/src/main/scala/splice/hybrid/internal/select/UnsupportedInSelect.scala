// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.types.{DataType, DateType, TimestampNTZType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import splice.hybrid.internal.errors.HybridErrors
import splice.source.errors.SpliceOptionException
import splice.source.internal.rows.RawRows

/** Expressions that the reader of a leg cannot evaluate, with a remedy for each. */
private[splice] object UnsupportedInSelect {

  val Variable = "a variable that Spark replaces"

  val Subquery = "a reader has no access to other tables; join after the source"
  val Window   = "a reader processes one row at a time; use the function after the source"
  val Changing = "a replayed batch must produce the same rows; use the expression after the source"

  private val Aggregate  = "a reader processes one row at a time; aggregate after the source"
  private val Generator  = "each row must produce one row; use the function after the source"
  private val Python     = "a reader runs no Python; use the function after the source"
  private val RestOfPlan =
    "only a list of expressions over one row can be evaluated in a reader; use other operations after the source"

  /** Function kind of a rejected group in Spark's function documentation; None for all other groups. */
  def ofGroup(group: String): Option[(String, String)] = group match {
    case "agg_funcs"       => Some("aggregate function" -> Aggregate)
    case "window_funcs"    => Some("window function" -> Window)
    case "generator_funcs" => Some("generator function" -> Generator)
    case _                 => None
  }

  /** First unsupported node or expression of an analysed plan, with a remedy. */
  def find(plan: LogicalPlan): Option[(String, String)] = plan match {
    case RawRows(_)           => None
    case Project(list, child) => list.iterator.flatMap(find).nextOption().orElse(find(child))
    case a: Aggregate         =>
      val name = a.aggregateExpressions.flatMap(_.collectFirst { case f: aggregate.AggregateExpression =>
        f
      }).headOption
      Some(s"the aggregate function ${name.fold("")(_.sql)}".trim -> Aggregate)
    case _: Generate => Some("a generator function" -> Generator)
    case _: Window   => Some("a window function" -> Window)
    case other       => Some(s"'${other.nodeName}'" -> RestOfPlan)
  }

  private def find(expression: Expression): Option[(String, String)] =
    expression.collectFirst(Function.unlift(rejected)).orElse {
      // The optimizer replaces these functions before it evaluates casts.
      val replaced = expression.transformUp { case function: RuntimeReplaceable => function.replacement }
      replaced.collectFirst { case c: Cast if isSpecial(c) => s"the special value in ${c.sql}" -> Changing }
    }

  private def rejected(expression: Expression): Option[(String, String)] = expression match {
    case _: SubqueryExpression              => Some("a subquery" -> Subquery)
    case u: PythonUDF                       => Some(s"the Python function ${u.name}" -> Python)
    case v: VariableReference               => Some(s"the session variable ${v.sql}" -> Changing)
    case e if isCurrent(e)                  => Some(s"the function ${e.prettyName}" -> Changing)
    case g: Generator                       => Some(s"the generator function ${g.prettyName}" -> Generator)
    case e if !e.deterministic && itself(e) => Some(s"the non-deterministic function ${e.prettyName}" -> Changing)
    case _                                  => None
  }

  private def itself(e: Expression): Boolean = e.children.forall(_.deterministic)

  private def isCurrent(e: Expression): Boolean =
    e.containsPattern(TreePattern.CURRENT_LIKE) && !e.children.exists(_.containsPattern(TreePattern.CURRENT_LIKE))

  // Values such as 'now' are evaluated when the list is compiled, so a restart would change the values.
  private def isSpecial(cast: Cast): Boolean =
    isOfTime(cast.dataType) && cast.child.foldable &&
      (Try(cast.child.eval()).toOption match {
        case Some(text: UTF8String) => isSpecial(text.toString)
        case _                      => false
      })

  /** The text of a literal with a type, such as `DATE 'today'`, if its value changes. The parser evaluates the value. */
  def special(literal: Literal): Option[String] = for {
    from <- literal.origin.startIndex if isOfTime(literal.dataType)
    last <- literal.origin.stopIndex
    text <- literal.origin.sqlText.map(_.slice(from, last + 1))
    if isSpecial(text.dropWhile(!Quotes(_)).drop(1))
  } yield s"the special value in $text"

  private def isSpecial(text: String): Boolean = Special(text.trim.toLowerCase(Locale.ROOT).takeWhile(_.isLetter))

  private def isOfTime(of: DataType): Boolean = of match {
    case DateType | TimestampType | TimestampNTZType => true
    case _                                           => false
  }

  private val Special = Set("now", "today", "tomorrow", "yesterday")
  private val Quotes  = Set('\'', '"')
}

/** Errors about the `select` of a leg. */
private[hybrid] object SelectErrors {

  private def conditions = HybridErrors.conditions

  /** Spark's parser or analyzer rejects the list. */
  def failed(option: String, list: String, cause: Throwable): SpliceOptionException = {
    val error = conditions.option(
      "SPLICE_SELECT.INVALID_EXPRESSION",
      "option" -> option,
      "value"  -> list,
      "reason" -> cause.getMessage
    )
    error.initCause(cause)
    error
  }

  /** The text is more than a list of expressions. */
  def notAList(option: String, description: String): SpliceOptionException =
    conditions.option("SPLICE_SELECT.NOT_A_LIST", "option" -> option, "content" -> description)

  /** The list has an expression that is not deterministic, or that does not produce exactly one row per row. */
  def rejected(option: String, expression: String, reason: String): SpliceOptionException =
    conditions.option(
      "SPLICE_SELECT.EXPRESSION_NOT_SUPPORTED",
      "option"     -> option,
      "expression" -> expression,
      "reason"     -> reason
    )
}
