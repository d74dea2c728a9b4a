// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import org.apache.spark.sql.types.{StringType, StructField, StructType}

/** The hidden columns that say where a row comes from. */
private[dynamic] object DynamicColumns {

  val Cluster = "_cluster"
  val Stream  = "_stream"

  val all: StructType = StructType(Seq(
    StructField(Cluster, StringType, nullable = false).withComment("The cluster that the row comes from."),
    StructField(Stream, StringType, nullable = false).withComment("The stream that the row's topic is in.")
  ))

  def isOne(name: String): Boolean = name == Cluster || name == Stream
}
