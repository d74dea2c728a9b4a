// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import splice.source.runtime.SessionSettings

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** Kinds of conversion from a row of a leg to a row of the hybrid source, cheapest first. */
sealed private[splice] trait RowShape extends Product with Serializable {

  /** True if column vectors can be forwarded unread. */
  def columnar: Boolean
}

private[splice] object RowShape {

  /** Rows are forwarded unchanged. */
  case object Same extends RowShape {
    override def columnar: Boolean = true
  }

  /** Columns of the leg, reordered or repeated, and constants. */
  final case class View(cells: IndexedSeq[Cell], types: IndexedSeq[DataType]) extends RowShape {
    override def columnar: Boolean = cells.forall {
      case Cell.Constant(_: UTF8String | null) => true
      case Cell.Constant(_)                    => false
      case Cell.Column(_)                      => true
    }
  }

  /** Chain of expression lists; each list is evaluated over the result of the previous list.
    *
    * @param session
    *   settings of the first start, which also apply to the evaluation in tasks
    */
  final case class Computed(steps: IndexedSeq[Seq[Expression]], session: SessionSettings) extends RowShape {
    override def columnar: Boolean = false
  }

  /** Origin of a value of a view. */
  sealed trait Cell extends Product with Serializable

  object Cell {
    final case class Column(ordinal: Int) extends Cell
    final case class Constant(value: Any) extends Cell
  }
}
