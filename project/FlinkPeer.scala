// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** Flink in the benchmark. Flink runs in a separate process, because its versions of clients and logging differ. */
object FlinkPeer {
  val stage = taskKey[File]("Copies Flink and its benchmark program to one folder, and returns the folder")

  val staged: Seq[Setting[_]] = Seq(
    libraryDependencies ++= Dependencies.flink,
    stage := {
      val folder = target.value / "flink"
      val jars   = (Compile / externalDependencyClasspath).value.files :+ (Compile / packageBin).value
      Sync.sync(streams.value.cacheStoreFactory.make("flink"))(jars.map(jar => jar -> folder / jar.getName))
      folder
    }
  )

  /** Sets the property `splice.bench.flink` to the folder of the jars. */
  val known: Seq[Setting[_]] =
    Seq(Compile / run / javaOptions += s"-Dsplice.bench.flink=${(LocalProject("flinkPeer") / stage).value}")
}
