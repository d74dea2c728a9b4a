// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.session

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2
import org.apache.spark.sql.execution.datasources.{DataSource, FileFormat}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SparkSession, classic}

import splice.files.internal.options.FileKind
import splice.source.options.SourceOptions.fold

/** Spark's file formats, resolved as in `spark.read.format`. */
private[files] object FileFormats {

  def of(kind: FileKind): FileFormat =
    DataSource.lookupDataSource(kind.name, SQLConf.get).getDeclaredConstructor().newInstance() match {
      case format: FileFormat       => format
      case source: FileDataSourceV2 => source.fallbackFileFormat.getDeclaredConstructor().newInstance()
      case other                    => throw new IllegalStateException(s"${other.getClass.getName} does not read files")
    }

  /** Settings of the session. */
  def conf(spark: SparkSession): SQLConf = spark.asInstanceOf[classic.SparkSession].sessionState.conf

  /** Hadoop configuration of the session, overridden by the options of a read. */
  def configuration(spark: SparkSession, options: Map[String, String]): Configuration =
    spark.asInstanceOf[classic.SparkSession].sessionState.newHadoopConfWithOptions(options)
}

/** Column names with the case sensitivity of the session (`spark.sql.caseSensitive`). */
private[files] object ColumnNames {

  /** Comparison key; equal for all names of one column. */
  def key(name: String): String = if (SQLConf.get.caseSensitiveAnalysis) name else fold(name)
}
