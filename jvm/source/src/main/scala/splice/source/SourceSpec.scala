// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, SparkSession}

import splice.source.internal.Secrets

/** A source as builders leave it: the options of `format("splice")`. */
final case class SourceSpec(options: ListMap[String, String]) {

  /** The options as Java sees them, in order. */
  def asJava: java.util.Map[String, String] = new java.util.LinkedHashMap(options.asJava)

  /** The source as a stream. */
  def readStream(spark: SparkSession): DataFrame = spark.readStream.format(SourceSpec.Format).options(options).load()

  /** The source as one bounded read. */
  def read(spark: SparkSession): DataFrame = spark.read.format(SourceSpec.Format).options(options).load()

  override def toString: String =
    options.map { case (k, v) => s"$k=${Secrets.redact(k, v)}" }.mkString("SourceSpec(", ", ", ")")
}

object SourceSpec {

  /** The name under which Spark finds Splice. */
  val Format = "splice"
}
