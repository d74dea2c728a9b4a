// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import scala.util.Try

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction, UnresolvedStar}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Expression,
  Literal,
  NamedExpression,
  SubqueryExpression,
  WindowExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.VariableSubstitution

import splice.source.options.SourceOptions.fold

/** Parsed SELECT list. */
final private[splice] case class SelectList(items: Seq[NamedExpression]) {

  /** Names in the list, in lower case. Some may be fields or lambda variables. */
  lazy val mentions: Set[String] = items.flatMap(_.collect { case a: UnresolvedAttribute =>
    fold(a.nameParts.head)
  }).toSet

  /** True if each item is an unchanged column. An alias is allowed. */
  def onlyColumns: Boolean = items.forall {
    case Alias(_: UnresolvedAttribute, _)           => true
    case _: UnresolvedAttribute | UnresolvedStar(_) => true
    case _                                          => false
  }
}

private[splice] object SelectList {

  /** @throws splice.source.errors.SpliceOptionException
    *   if the text is not a list of expressions, or has an expression that a leg cannot evaluate
    */
  def parse(session: SparkSession, option: String, text: String): SelectList = {
    if (new VariableSubstitution().substitute(text) != text)
      throw SelectErrors.rejected(option, UnsupportedInSelect.Variable, UnsupportedInSelect.Changing)
    val parsed =
      try session.sessionState.sqlParser.parsePlan(s"SELECT $text")
      catch { case e: AnalysisException => throw SelectErrors.failed(option, text, e) }
    parsed match {
      case Project(items, _: OneRowRelation) =>
        items.foreach(_.foreach(reject(session, option, _)))
        SelectList(items)
      case other => throw SelectErrors.notAList(option, describe(other))
    }
  }

  // These functions are rejected by name before analysis, because the analyzer reports unrelated errors, such as a
  // missing GROUP BY.
  private def reject(session: SparkSession, option: String, expression: Expression): Unit = expression match {
    case _: SubqueryExpression => throw SelectErrors.rejected(option, "a subquery", UnsupportedInSelect.Subquery)
    case w: WindowExpression   =>
      throw SelectErrors.rejected(option, s"the window function ${w.sql}", UnsupportedInSelect.Window)
    case l: Literal =>
      UnsupportedInSelect.special(l).foreach { text =>
        throw SelectErrors.rejected(option, text, UnsupportedInSelect.Changing)
      }
    case f: UnresolvedFunction =>
      val name = f.nameParts.mkString(".")
      group(session, f.nameParts).flatMap(UnsupportedInSelect.ofGroup).foreach { case (kind, why) =>
        throw SelectErrors.rejected(option, s"the $kind $name", why)
      }
    case _ => ()
  }

  // The analyzer rejects unknown functions and suggests similar names.
  private def group(session: SparkSession, name: Seq[String]): Option[String] =
    if (name.size > 1) None
    else Try(session.sessionState.catalog.lookupFunctionInfo(FunctionIdentifier(name.head)).getGroup).toOption

  private def describe(plan: LogicalPlan): String = plan match {
    case Project(_, child) => describe(child)
    case other             => other.nodeName.stripPrefix("Unresolved")
  }
}
