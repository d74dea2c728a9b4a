// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.reader

import org.apache.spark.sql.connector.metric.CustomTaskMetric

/** Figures of readers that ran in one task. */
private[reader] object TaskMetrics {

  private case class Sum(name: String, value: Long) extends CustomTaskMetric

  def sum(metrics: Seq[CustomTaskMetric]): Seq[CustomTaskMetric] =
    metrics.groupMapReduce(_.name)(_.value)(_ + _).toSeq.sortBy(_._1).map { case (name, value) => Sum(name, value) }
}
