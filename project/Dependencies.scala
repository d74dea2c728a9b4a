// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt._

/** Libraries of the modules, by their purpose. */
object Dependencies {

  /** Spark for compilation and tests. The cluster provides Spark, so it is in no published pom. */
  val sparkProvided: Seq[ModuleID] = Seq("org.apache.spark" % "spark-sql_2.13" % Versions.spark % Provided)

  // Every class path of Spark has this library.
  val yaml: ModuleID = "org.yaml" % "snakeyaml" % Versions.snakeyaml % Provided

  val sparkInTests: Seq[ModuleID] = Seq("org.apache.spark" % "spark-sql_2.13" % Versions.spark % Test)

  val kafkaClients: ModuleID = "org.apache.kafka" % "kafka-clients" % Versions.kafkaClients

  val scalatest: ModuleID = "org.scalatest" %% "scalatest" % Versions.scalatest

  val asm: ModuleID = "org.ow2.asm" % "asm" % Versions.asm

  val benchPeers: Seq[ModuleID] = Seq(
    "org.apache.spark"  % "spark-sql_2.13"            % Versions.spark,
    ("org.apache.spark" % "spark-sql-kafka-0-10_2.13" % Versions.spark)
      .exclude("org.apache.spark", "spark-token-provider-kafka-0-10_2.13"),
    ("org.apache.spark" % "spark-token-provider-kafka-0-10_2.13" % Versions.sparkKafkaTokenProvider).excludeAll(
      ExclusionRule()
    )
  )

  val flink: Seq[ModuleID] = Seq(
    "org.apache.flink" % "flink-streaming-java"  % Versions.flink,
    "org.apache.flink" % "flink-clients"         % Versions.flink,
    "org.apache.flink" % "flink-connector-base"  % Versions.flink,
    "org.apache.flink" % "flink-connector-kafka" % Versions.flinkKafka
  )

  val kafkaServer: Seq[ModuleID] = Seq(
    "org.apache.kafka"         % "kafka_2.13"       % Versions.kafkaServer,
    "org.apache.kafka"         % "kafka-tools"      % Versions.kafkaServer,
    "org.apache.logging.log4j" % "log4j-slf4j-impl" % Versions.kafkaServerLog4j
  )

  /** Server of the oldest version that the soak tests with. */
  val oldKafkaServer: Seq[ModuleID] = Seq("org.apache.kafka" % "kafka_2.13" % Versions.oldKafkaServer)

  val hdfsServer: Seq[ModuleID] = Seq("org.apache.hadoop" % "hadoop-client-minicluster" % Versions.hadoop)

  /** Excludes the bundle of all AWS clients. */
  val s3aClient: Seq[ModuleID] = Seq(
    ("org.apache.hadoop" % "hadoop-aws" % Versions.hadoop)
      .exclude("software.amazon.awssdk", "bundle")
      .exclude("org.apache.hadoop", "hadoop-common"),
    "software.amazon.awssdk" % "s3-transfer-manager" % Versions.awsSdk,
    "software.amazon.awssdk" % "netty-nio-client"    % Versions.awsSdk,
    "software.amazon.awssdk" % "apache-client"       % Versions.awsSdk
  )

  /** Formats of tables for tests. The runtime of Iceberg exists for Spark 4.1, and Delta for Spark 4.2. */
  val delta: Seq[ModuleID] = Seq("io.delta" % "delta-spark_4.2_2.13" % Versions.delta)

  val iceberg: Seq[ModuleID] = Seq("org.apache.iceberg" % "iceberg-spark-runtime-4.1_2.13" % Versions.iceberg)

  val postgresql: Seq[ModuleID] = Seq("org.postgresql" % "postgresql" % Versions.postgresql)
}
