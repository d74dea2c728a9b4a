// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** A folder of jars that a test puts on the class path of a process. */
object JarFolder {

  /** Copies the jars to the folder of this name, and removes all others there. */
  def sync(name: String, jars: Seq[File], target: File, streams: TaskStreams): File = {
    val folder = target / name
    Sync.sync(streams.cacheStoreFactory.make(name))(jars.map(jar => jar -> folder / jar.getName))
    folder
  }
}
