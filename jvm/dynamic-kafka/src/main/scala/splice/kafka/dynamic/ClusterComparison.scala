// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

import splice.kafka.dynamic.internal.reader.DynamicColumns
import splice.kafka.internal.value.KafkaSchema

/** Compares what two clusters hold of the same streams, as before a stream is moved from one to the other. */
object ClusterComparison {

  /** The keys of which two clusters do not hold the same records.
    *
    * Values are compared by their 64-bit hash; order, headers and offsets are not. Records without a key count as one key.
    *
    * @param rows
    *   a batch read of streams that lie on both clusters, with `key`, `value`, `_stream` and `_cluster`; bound it by an ending
    *   timestamp where records still come
    * @return
    *   `_stream`, `key`, how many records there are as `left_rows` and `right_rows`, and how many of them the other cluster does not
    *   have as `only_left` and `only_right`; no row when all is alike
    */
  def of(rows: DataFrame, left: String, right: String): DataFrame = {
    val cluster                           = col(DynamicColumns.Cluster)
    def of(name: String)                  = sum(when(cluster === name, 1L).otherwise(0L))
    def more(than: String, those: String) = sum(greatest(col(those) - col(than), lit(0L)))
    rows
      .where(cluster.isin(left, right))
      .groupBy(col(DynamicColumns.Stream), col(KafkaSchema.Key), xxhash64(col(KafkaSchema.Value)))
      .agg(of(left).as("left"), of(right).as("right"))
      .groupBy(DynamicColumns.Stream, KafkaSchema.Key)
      .agg(
        sum("left").as("left_rows"),
        sum("right").as("right_rows"),
        more(than = "right", those = "left").as("only_left"),
        more(than = "left", those = "right").as("only_right")
      )
      .where(col("only_left") > 0 || col("only_right") > 0)
  }
}
