// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** Flink beside Splice in the benchmark: a process of its own, because its clients and logging are not ours. */
object FlinkPeer {
  val stage = taskKey[File]("Puts Flink and the program that runs it into one folder and says which")

  val staged: Seq[Setting[_]] = Seq(
    libraryDependencies ++= Dependencies.flink,
    stage := {
      val folder = target.value / "flink"
      val jars   = (Compile / externalDependencyClasspath).value.files :+ (Compile / packageBin).value
      Sync.sync(streams.value.cacheStoreFactory.make("flink"))(jars.map(jar => jar -> folder / jar.getName))
      folder
    }
  )

  /** The benchmark finds the jars in the folder that the property `splice.bench.flink` names. */
  val known: Seq[Setting[_]] =
    Seq(Compile / run / javaOptions += s"-Dsplice.bench.flink=${(LocalProject("flinkPeer") / stage).value}")
}
