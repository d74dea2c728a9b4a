// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import java.util.Properties

import sbt._

/** Every version that the build names. Splice's own is in the file `VERSION`, Spark's are in `project/spark.properties`. */
object Versions {
  val splice: String = IO.read(file("VERSION")).trim

  val scala = "2.13.18"
  val java  = "17"

  val spark: String = inProperties("project/spark.properties", "built")

  val kafkaClients = "3.9.2"

  /** Spark's own Kafka source asks for a token provider of its version, which Maven Central does not hold. */
  val sparkKafkaTokenProvider = "4.0.0"

  val kafkaServer      = "4.2.0"
  val kafkaServerLog4j = "2.25.3"

  /** Spark's, for tests of checkpoints on HDFS and S3A. */
  val hadoop = "3.5.0"
  val awsSdk = "2.35.4"

  val flink      = "2.2.0"
  val flinkKafka = "5.0.0-2.2"

  val asm       = "9.9.1"
  val snakeyaml = "2.5"
  val scalatest = "3.2.20"

  /** The releases that MiMa compares the tree with. The first one is added after the release of 0.1.0. */
  val released: Seq[String] = Nil

  private def inProperties(path: String, name: String): String = {
    val all = new Properties
    IO.load(all, file(path))
    Option(all.getProperty(name)).getOrElse(sys.error(s"$path does not set '$name'"))
  }
}
