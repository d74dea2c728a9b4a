// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}

/** The Hadoop settings of a session, its own `spark.sql` ones included, as Spark uses them for its checkpoints. */
private[splice] object HadoopConfiguration {

  def apply(spark: SparkSession): Configuration = spark match {
    case classic: ClassicSession => classic.sessionState.newHadoopConf()
    case other                   => other.sparkContext.hadoopConfiguration
  }

  /** The settings of this thread's session, else of the default session, else Hadoop's own. */
  def active: Configuration =
    SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession).fold(new Configuration())(apply)
}
