// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import pl.project13.scala.sbt.JmhPlugin.JmhKeys.Jmh
import sbt.Keys._
import sbt._

/** What the benchmark needs to run a build of Splice that is only a jar. */
object ComparedBuilds {

  /** The property `splice.bench.classes` holds the benchmark's classes and all libraries, and no module of Splice. */
  val known: Seq[Setting[_]] = Seq(Compile / run / javaOptions += {
    val classes = (Jmh / products).value ++ (Compile / externalDependencyClasspath).value.files
    s"-Dsplice.bench.classes=${classes.mkString(java.io.File.pathSeparator)}"
  })
}
