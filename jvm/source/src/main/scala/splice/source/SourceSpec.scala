// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, SparkSession}

import splice.source.internal.Secrets

/** Options of `format("splice")`, as a builder creates them. */
final case class SourceSpec(options: ListMap[String, String]) {

  /** Returns the options as a Java map in the same order. */
  def asJava: java.util.Map[String, String] = new java.util.LinkedHashMap(options.asJava)

  /** Returns a streaming DataFrame of the source. */
  def readStream(spark: SparkSession): DataFrame = spark.readStream.format(SourceSpec.Format).options(options).load()

  /** Returns a DataFrame of one bounded read of the source. */
  def read(spark: SparkSession): DataFrame = spark.read.format(SourceSpec.Format).options(options).load()

  override def toString: String =
    options.map { case (k, v) => s"$k=${Secrets.redact(k, v)}" }.mkString("SourceSpec(", ", ", ")")
}

object SourceSpec {

  /** Name of the data source format in Spark. */
  val Format = "splice"
}
