// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

addSbtPlugin("com.eed3si9n"       % "sbt-assembly" % "2.3.1")
addSbtPlugin("org.scalameta"      % "sbt-scalafmt" % "2.6.2")
addSbtPlugin("pl.project13.scala" % "sbt-jmh"      % "0.4.8")
