// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import pl.project13.scala.sbt.JmhPlugin.JmhKeys.Jmh
import sbt.Keys._
import sbt._

/** Settings that let the benchmark run a build of Splice from its jar. */
object ComparedBuilds {

  /** Sets the property `splice.bench.classes` to the benchmark's classes and all libraries, without modules of Splice. */
  val known: Seq[Setting[_]] = Seq(Compile / run / javaOptions += {
    val classes = (Jmh / products).value ++ (Compile / externalDependencyClasspath).value.files
    s"-Dsplice.bench.classes=${classes.mkString(java.io.File.pathSeparator)}"
  })
}
