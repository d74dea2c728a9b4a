// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

addSbtPlugin("com.eed3si9n"       % "sbt-assembly"    % "2.3.1")
addSbtPlugin("org.scalameta"      % "sbt-scalafmt"    % "2.6.2")
addSbtPlugin("pl.project13.scala" % "sbt-jmh"         % "0.4.8")
addSbtPlugin("ch.epfl.scala"      % "sbt-scalafix"    % "0.14.3")
addSbtPlugin("com.github.sbt"     % "sbt-unidoc"      % "0.6.1")
addSbtPlugin("com.typesafe"       % "sbt-mima-plugin" % "1.1.6")
