// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.reader

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, PlanExpression, PythonUDF}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.{
  ColumnarToRowExec,
  InputAdapter,
  ProjectExec,
  QueryExecution,
  SparkPlan,
  WholeStageCodegenExec
}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.sql.{DataFrame, Row, classic}

/** Spark's plan of consecutive slices. Tasks of another plan read the partitions of its RDD, so Spark plans each format
  * with its own rules: pruning of partitions, deletion vectors, column mapping and delete files.
  */
final private[tables] class SlicePlan private (execution: QueryExecution) {

  /** Rows, in the order of the columns of the DataFrame. */
  lazy val rows: RDD[InternalRow] = execution.toRdd

  /** Column batches, and the place of each column of the DataFrame in a batch. None if the plan needs rows. */
  lazy val batches: Option[(RDD[ColumnarBatch], Array[Int])] =
    SlicePlan.scan(execution.executedPlan).map { case (scan, places) => (scan.executeColumnar(), places) }

  /** True if the plan is only a scan of column batches. */
  def isColumnar: Boolean = SlicePlan.scan(execution.executedPlan).nonEmpty

  // Rows of column batches would need generated code, which no task runs.
  private def read: RDD[_] = batches.fold[RDD[_]](rows)(_._1)

  def partitions: Int = read.getNumPartitions

  /** Size as Spark estimates it. For files, the size of the files that remain after the pruning of partitions. */
  def bytes: BigInt = {
    val files = read.partitions.toSeq.map {
      case part: FilePartition => Some(BigInt(part.files.iterator.map(_.length).sum))
      case _                   => None
    }
    if (files.nonEmpty && files.forall(_.nonEmpty)) files.flatten.sum else execution.optimizedPlan.stats.sizeInBytes
  }
}

private[tables] object SlicePlan {

  /** @return the plan, or the reason why Splice cannot read its partitions separately */
  def of(rows: DataFrame): Either[String, SlicePlan] = {
    val execution = rows.asInstanceOf[classic.Dataset[Row]].queryExecution
    unsupported(execution).toLeft(new SlicePlan(execution))
  }

  private def unsupported(execution: QueryExecution): Option[String] =
    execution.optimizedPlan.collectFirst(Function.unlift(reason)).orElse {
      execution.executedPlan.collectFirst { case exchange: Exchange => s"a shuffle (${exchange.nodeName})" }
    }

  private def reason(plan: LogicalPlan): Option[String] = {
    val node = plan match {
      case _: LeafNode | _: Project | _: Filter | _: Union | _: Generate | _: SubqueryAlias | _: View => None
      case other => Some(s"the operation ${other.nodeName}")
    }
    val expression = plan.expressions.flatMap(_.collectFirst {
      case udf: PythonUDF                => s"the Python function ${udf.name}"
      case subquery: PlanExpression[_]   => s"a subquery (${subquery.prettyName})"
      case other if !other.deterministic => s"an expression without a fixed result (${other.sql})"
    }).headOption
    node.orElse(expression)
  }

  /** Columnar scan below selections of columns only. */
  private def scan(plan: SparkPlan): Option[(SparkPlan, Array[Int])] = {
    def places(wanted: Seq[Attribute], node: SparkPlan): Option[(SparkPlan, Array[Int])] = node match {
      case WholeStageCodegenExec(child) => places(wanted, child)
      case InputAdapter(child)          => places(wanted, child)
      case ColumnarToRowExec(child)     =>
        val found = wanted.map(column => child.output.indexWhere(_.exprId == column.exprId))
        Option.when(!found.contains(-1))(child -> found.toArray)
      case ProjectExec(columns, child) =>
        val plain = columns.collect { case column: AttributeReference => column }
        if (plain.size == columns.size) places(wanted, child) else None
      case _ => None
    }
    places(plan.output, plan)
  }
}
