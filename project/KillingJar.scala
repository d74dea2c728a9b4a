// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** A jar for the tests that kill a driver: nothing but the file system and the column that do it. */
object KillingJar {
  val killingJar = taskKey[File]("Packs what tests need to kill a driver at a chosen step, and says where it is")

  val packed: Seq[Setting[_]] = Seq(
    killingJar := {
      val _       = (Compile / compile).value
      val classes = (Compile / classDirectory).value
      val folder  = classes / "splice" / "testkit" / "kill"
      val entries = (folder ** "*.class").get.flatMap(file => IO.relativize(classes, file).map(file -> _))
      val jar     = target.value / "splice-killing.jar"
      IO.jar(entries, jar, new java.util.jar.Manifest, None)
      jar
    }
  )
}
