// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}

/** Hadoop configuration of a session, including the `spark.sql` settings of the session. Spark uses the same
  * configuration for its checkpoints.
  */
private[splice] object HadoopConfiguration {

  def apply(spark: SparkSession): Configuration = spark match {
    case classic: ClassicSession => classic.sessionState.newHadoopConf()
    case other                   => other.sparkContext.hadoopConfiguration
  }

  /** Returns the configuration of this thread's session, or of the default session. Without a session, returns Hadoop's
    * default configuration.
    */
  def active: Configuration =
    SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession).fold(new Configuration())(apply)
}
