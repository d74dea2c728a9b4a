// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt._

/** What each module takes from outside, named by what it is for. */
object Dependencies {

  /** Spark is on the cluster already: never in a published pom, always on the compile and test class path. */
  val sparkProvided: Seq[ModuleID] = Seq("org.apache.spark" % "spark-sql_2.13" % Versions.spark % Provided)

  // Spark itself has it on every class path.
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

  val hdfsServer: Seq[ModuleID] = Seq("org.apache.hadoop" % "hadoop-client-minicluster" % Versions.hadoop)

  /** Without the bundle of all clients of AWS. */
  val s3aClient: Seq[ModuleID] = Seq(
    ("org.apache.hadoop" % "hadoop-aws" % Versions.hadoop)
      .exclude("software.amazon.awssdk", "bundle")
      .exclude("org.apache.hadoop", "hadoop-common"),
    "software.amazon.awssdk" % "s3-transfer-manager" % Versions.awsSdk,
    "software.amazon.awssdk" % "netty-nio-client"    % Versions.awsSdk,
    "software.amazon.awssdk" % "apache-client"       % Versions.awsSdk
  )
}
