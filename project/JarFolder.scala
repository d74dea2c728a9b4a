// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** Folder of jars for the class path of a test's process. */
object JarFolder {

  /** Copies the jars to the folder of this name, and removes all other files of the folder. */
  def sync(name: String, jars: Seq[File], target: File, streams: TaskStreams): File = {
    val folder = target / name
    Sync.sync(streams.cacheStoreFactory.make(name))(jars.map(jar => jar -> folder / jar.getName))
    folder
  }
}
