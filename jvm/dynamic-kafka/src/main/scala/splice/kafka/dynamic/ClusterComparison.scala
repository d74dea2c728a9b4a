// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

import splice.kafka.dynamic.internal.reader.DynamicColumns
import splice.kafka.internal.value.KafkaSchema

/** Compares the records of the same streams on two clusters, for example before a stream moves to another cluster. */
object ClusterComparison {

  /** Returns the keys whose records differ between two clusters.
    *
    * Values are compared by their 64-bit hash. Order, headers and offsets are not compared. Records without a key count
    * as one key.
    *
    * @param rows
    *   batch query over streams that are hosted on both clusters, with `key`, `value`, `_stream` and `_cluster`. Set an
    *   ending timestamp if records still arrive.
    * @return
    *   rows with `_stream` and `key`. `left_rows` and `right_rows` are the numbers of records. `only_left` and
    *   `only_right` are the numbers of records that the other cluster does not have. No rows if the records are equal
    */
  def of(rows: DataFrame, left: String, right: String): DataFrame = {
    val cluster                           = col(DynamicColumns.Cluster)
    def of(name: String)                  = sum(when(cluster === name, 1L).otherwise(0L))
    def more(than: String, count: String) = sum(greatest(col(count) - col(than), lit(0L)))
    rows
      .where(cluster.isin(left, right))
      .groupBy(col(DynamicColumns.Stream), col(KafkaSchema.Key), xxhash64(col(KafkaSchema.Value)))
      .agg(of(left).as("left"), of(right).as("right"))
      .groupBy(DynamicColumns.Stream, KafkaSchema.Key)
      .agg(
        sum("left").as("left_rows"),
        sum("right").as("right_rows"),
        more(than = "right", count = "left").as("only_left"),
        more(than = "left", count = "right").as("only_right")
      )
      .where(col("only_left") > 0 || col("only_right") > 0)
  }
}
