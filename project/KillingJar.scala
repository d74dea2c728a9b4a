// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** Jar for tests with the file system and the column that kill a run, and a callback handler for logins. */
object KillingJar {
  val killingJar = taskKey[File]("Packs the classes that kill a run at a chosen step, and returns the jar")

  val packed: Seq[Setting[_]] = Seq(
    killingJar := {
      val _       = (Compile / compile).value
      val classes = (Compile / classDirectory).value
      val folders = Seq("kill", "login").map(classes / "splice" / "testkit" / "internal" / _)
      val entries = folders.flatMap(folder => (folder ** "*.class").get).flatMap(file =>
        IO.relativize(classes, file).map(file -> _)
      )
      val jar = target.value / "splice-killing.jar"
      IO.jar(entries, jar, new java.util.jar.Manifest, None)
      jar
    }
  )
}
