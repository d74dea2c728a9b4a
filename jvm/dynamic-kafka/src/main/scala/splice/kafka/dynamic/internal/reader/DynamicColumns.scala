// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import org.apache.spark.sql.types.{StringType, StructField, StructType}

/** Hidden columns for the cluster and the stream of a row. */
private[dynamic] object DynamicColumns {

  val Cluster = "_cluster"
  val Stream  = "_stream"

  val all: StructType = StructType(Seq(
    StructField(Cluster, StringType, nullable = false).withComment("The cluster that hosts the row's topic."),
    StructField(Stream, StringType, nullable = false).withComment("The stream that contains the row's topic.")
  ))

  def isOne(name: String): Boolean = name == Cluster || name == Stream
}
