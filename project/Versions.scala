// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import java.util.Properties

import sbt._

/** Versions of libraries. The version of Splice is in `VERSION`, and the versions of Spark are in
  * `project/spark.properties`.
  */
object Versions {
  val splice: String = IO.read(file("VERSION")).trim

  val scala = "2.13.18"
  val java  = "17"

  val spark: String = inProperties("project/spark.properties", "built")

  val kafkaClients = "3.9.2"

  /** Token provider of Spark's Kafka source. Maven Central does not have the version that this source requires. */
  val sparkKafkaTokenProvider = "4.0.0"

  val kafkaServer      = "4.2.0"
  val kafkaServerLog4j = "2.25.3"
  val oldKafkaServer   = "2.6.3"

  /** Hadoop's version in Spark, for tests of checkpoints on HDFS and S3A. */
  val hadoop = "3.5.0"
  val awsSdk = "2.35.4"

  val flink      = "2.2.0"
  val flinkKafka = "5.0.0-2.2"

  val delta      = "4.4.0"
  val iceberg    = "1.12.0"
  val postgresql = "42.7.14"

  val asm       = "9.9.1"
  val snakeyaml = "2.5"
  val scalatest = "3.2.20"

  /** The releases that MiMa compares the tree with. The first release is added after the release of 0.1.0. */
  val released: Seq[String] = Nil

  private def inProperties(path: String, name: String): String = {
    val all = new Properties
    IO.load(all, file(path))
    Option(all.getProperty(name)).getOrElse(sys.error(s"$path does not set '$name'"))
  }
}
