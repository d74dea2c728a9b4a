// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import scala.annotation.tailrec

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAlias, UnresolvedStar}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

import splice.hybrid.internal.chain.HybridColumns
import splice.source.internal.rows.{PlainType, RawRows}
import splice.source.options.SourceOptions.fold
import splice.source.runtime.SessionSettings

/** Analysed SELECT list over the rows of one leg. Driver only.
  *
  * @param fields
  *   columns of `leaf` with the names and metadata of the leg
  */
final private[splice] class SelectPlan private (
    session: SparkSession,
    pinned: SessionSettings,
    option: String,
    leaf: RawRows,
    fields: StructType,
    analysed: LogicalPlan
) {

  /** Schema of the list. */
  def schema: StructType = PlainType.of(analysed.schema)

  /** Compiles the part of the list that `columns` need.
    *
    * @param columns
    *   names of [[schema]], or `_leg`
    * @param leg
    *   value of `_leg`
    */
  def compile(columns: StructType, leg: String): CompiledSelect = pinned.within {
    val wanted = columns.fields.toSeq.map { column =>
      if (column.name == HybridColumns.Leg) Alias(Literal(UTF8String.fromString(leg), StringType), column.name)()
      else analysed.output.find(a => HybridColumns.same(a.name, column.name)).get
    }
    val optimised = session.sessionState.executePlan(Project(wanted, analysed)).optimizedPlan
    CompiledSelect(
      StructType(used(optimised).map(toField)).toNullable,
      bound(optimised),
      pinned
    )
  }

  private def used(plan: LogicalPlan): Seq[Attribute] = {
    val first = levels(plan).headOption.getOrElse(leaf.output)
    first.flatMap(_.collect { case a: AttributeReference => a }).distinctBy(_.exprId)
  }

  private def bound(plan: LogicalPlan): IndexedSeq[Seq[Expression]] = {
    val lists  = levels(plan)
    val inputs = used(plan) +: lists.map(_.map(_.toAttribute))
    lists.zip(inputs).map { case (list, input) =>
      BindReferences.bindReferences(list.map(unaliased), AttributeSeq(input))
    }.toIndexedSeq
  }

  private def unaliased(e: Expression): Expression = e match {
    case Alias(child, _) => child
    case other           => other
  }

  /** Projections, in order from the rows of the leg upwards. */
  private def levels(plan: LogicalPlan): Seq[Seq[NamedExpression]] = {
    @tailrec def down(plan: LogicalPlan, above: Seq[Seq[NamedExpression]]): Seq[Seq[NamedExpression]] = plan match {
      case Project(list, child) => down(child, list +: above)
      case RawRows(_)           => above
      case other                =>
        throw SelectErrors.rejected(
          option,
          s"'${other.nodeName}'",
          "the plan is not a list of expressions over one row"
        )
    }
    down(plan, Nil)
  }

  // The analyzer gives an attribute the name in the list, which may differ in case from the name of the column.
  private def toField(a: Attribute): StructField = fields(leaf.output.indexWhere(_.exprId == a.exprId))
}

private[splice] object SelectPlan {

  /** Analyses a list with the functions of `session` and the settings of `pinned`.
    *
    * @param metadata
    *   columns that the list may name, but that `*` excludes
    * @throws splice.source.errors.SpliceOptionException
    *   if Spark rejects the list, or a leg cannot evaluate it
    */
  def analyse(
      session: SparkSession,
      pinned: SessionSettings,
      option: String,
      text: String,
      schema: StructType,
      metadata: StructType
  ): SelectPlan = pinned.within {
    val list = SelectList.parse(session, option, text)
    // A column of the rows hides a metadata column of the same name, as in Spark.
    val free    = metadata.fields.filterNot(f => schema.exists(column => HybridColumns.same(column.name, f.name)))
    val named   = free.filter(f => list.mentions(fold(f.name)))
    val visible = DataTypeUtils.toAttributes(PlainType.of(schema))
    val hidden  = DataTypeUtils.toAttributes(PlainType.of(StructType(named)))
    val leaf    = RawRows(visible ++ hidden)
    val fields  = StructType(schema ++ named)
    val items   = list.items.flatMap {
      case UnresolvedAlias(UnresolvedStar(None), _) | UnresolvedStar(None) => visible
      case item                                                            => Seq(item)
    }
    val execution = session.sessionState.executePlan(Project(items, leaf))
    try execution.assertAnalyzed()
    catch { case e: AnalysisException => throw SelectErrors.failed(option, text, e) }
    val analysed = execution.analyzed
    UnsupportedInSelect.find(analysed).foreach { case (expression, why) =>
      throw SelectErrors.rejected(option, expression, why)
    }
    new SelectPlan(session, pinned, option, leaf, fields, analysed)
  }
}
