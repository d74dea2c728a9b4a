// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import org.apache.spark.sql.SparkSession
import org.scalatest.{BeforeAndAfterAll, Suite}

/** Session with two cores, shared by the suites of one JVM. */
trait LocalSpark extends BeforeAndAfterAll { this: Suite =>

  protected lazy val spark: SparkSession = LocalSpark.session

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    SparkSession.setActiveSession(spark)
  }
}

private object LocalSpark {

  private lazy val session: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName("splice-streams")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
}
