// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.select

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

// scalafix:off DisableSyntax.null; Spark's rows and Kafka's records define null for an absent value

/** What it takes to make a row of the hybrid from a row of a leg, cheapest first. */
sealed private[splice] trait RowShape extends Product with Serializable {

  /** Whether column vectors can be given on without reading them. */
  def columnar: Boolean
}

private[splice] object RowShape {

  /** The leg's rows are the hybrid's. */
  case object Same extends RowShape {
    override def columnar: Boolean = true
  }

  /** The leg's columns in another order, more than once, or beside constants. */
  final case class View(cells: IndexedSeq[Cell], types: IndexedSeq[DataType]) extends RowShape {
    override def columnar: Boolean = cells.forall {
      case Cell.Constant(_: UTF8String | null) => true
      case Cell.Constant(_)                    => false
      case Cell.Column(_)                      => true
    }
  }

  /** Lists of expressions, one over the other. */
  final case class Computed(steps: IndexedSeq[Seq[Expression]]) extends RowShape {
    override def columnar: Boolean = false
  }

  /** Where a view's value comes from. */
  sealed trait Cell extends Product with Serializable

  object Cell {
    final case class Column(ordinal: Int) extends Cell
    final case class Constant(value: Any) extends Cell
  }
}
