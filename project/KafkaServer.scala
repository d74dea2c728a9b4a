// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** A real Kafka server for tests, which start it as a process of its own: its Scala and its client are not ours. */
object KafkaServer {
  val stage = taskKey[File]("Puts the Kafka server's jars into one folder and says which")

  val staged: Seq[Setting[_]] = Seq(
    autoScalaLibrary := false,
    libraryDependencies ++= Dependencies.kafkaServer,
    stage := {
      val folder = target.value / "kafka"
      val jars   = (Compile / externalDependencyClasspath).value.files
      Sync.sync(streams.value.cacheStoreFactory.make("kafka"))(jars.map(jar => jar -> folder / jar.getName))
      folder
    }
  )

  /** Tests and benchmarks find the jars in the folder that the property `splice.kafka.server` names. */
  val known: Seq[Setting[_]] = Seq(Test / javaOptions += property.value, Compile / run / javaOptions += property.value)

  private def property = Def.task(s"-Dsplice.kafka.server=${(LocalProject("servers") / stage).value}")
}
