// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.apache.spark.sql.connector.read.InputPartition

import splice.source.TaskRanges

/** The ranges of one task, and the preferred locations of the task. */
final private[spark] case class SpliceInputPartition(task: TaskRanges, locations: Array[String], columnar: Boolean)
    extends InputPartition {
  override def preferredLocations: Array[String] = locations
}
