// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** Kafka server for tests. The server runs in a separate process, because the versions of Scala and of the client
  * differ.
  */
object KafkaServer {
  val stage = taskKey[File]("Copies the jars of the Kafka server, and of Spark's Kafka source, to one folder each")

  private val sparksSource =
    Seq("commons-pool2-", "spark-sql-kafka-0-10_2.13-", "spark-token-provider-kafka-0-10_2.13-")

  val staged: Seq[Setting[_]] = Seq(
    autoScalaLibrary := false,
    libraryDependencies ++= Dependencies.kafkaServer,
    stage := {
      val peers  = (LocalProject("bench") / Compile / externalDependencyClasspath).value.files
      val source = peers.filter(jar => sparksSource.exists(jar.getName.startsWith))
      JarFolder.sync("spark-kafka", source, target.value, streams.value)
      JarFolder.sync("kafka", (Compile / externalDependencyClasspath).value.files, target.value, streams.value)
    }
  )

  val oldStaged: Seq[Setting[_]] = Seq(
    autoScalaLibrary := false,
    libraryDependencies ++= Dependencies.oldKafkaServer,
    stage := JarFolder.sync("kafka", (Compile / externalDependencyClasspath).value.files, target.value, streams.value)
  )

  /** Sets the property `splice.kafka.server`, for tests and benchmarks, to the folder of the jars. Tests share the
    * archives of parsed classes of `tests/servers/class_data.py`.
    */
  val known: Seq[Setting[_]] = Seq(
    Test / javaOptions ++= Seq(property.value, "-Dsplice.kafka.server.quick=true", classData.value),
    Compile / run / javaOptions += property.value
  )

  private def classData =
    Def.setting(s"-Dsplice.class.data=${(ThisBuild / baseDirectory).value / "target" / "class-data"}")

  private def property = Def.task(s"-Dsplice.kafka.server=${(LocalProject("servers") / stage).value}")
}
