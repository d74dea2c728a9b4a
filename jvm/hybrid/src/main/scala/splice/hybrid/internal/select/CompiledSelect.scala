// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, Literal}
import org.apache.spark.sql.types.StructType

import splice.hybrid.internal.select.RowShape.Cell
import splice.source.runtime.SessionSettings

/** Compiled conversion of rows of a leg to rows of the hybrid source.
  *
  * @param columns
  *   columns to request from the readers of the leg
  */
final private[splice] case class CompiledSelect(columns: StructType, shape: RowShape)

private[splice] object CompiledSelect {

  /** @param steps
    *   lists of bound expressions; the first list is over `columns`, each other list over the previous list; empty =
    *   unchanged rows
    * @param session
    *   settings of the first start
    */
  def apply(columns: StructType, steps: IndexedSeq[Seq[Expression]], session: SessionSettings): CompiledSelect =
    CompiledSelect(
      columns,
      steps match {
        case IndexedSeq()     => RowShape.Same
        case IndexedSeq(list) => view(columns, list).getOrElse(RowShape.Computed(steps, session))
        case _                => RowShape.Computed(steps, session)
      }
    )

  private def view(columns: StructType, list: Seq[Expression]): Option[RowShape] = {
    val cells = list.map {
      case BoundReference(ordinal, _, _) => Some(Cell.Column(ordinal))
      case Literal(value, _)             => Some(Cell.Constant(value))
      case _                             => None
    }
    if (cells.exists(_.isEmpty)) None
    else if (cells.flatten == columns.indices.map(Cell.Column(_))) Some(RowShape.Same)
    else Some(RowShape.View(cells.flatten.toIndexedSeq, list.map(_.dataType).toIndexedSeq))
  }
}
