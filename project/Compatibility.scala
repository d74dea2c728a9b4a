// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import com.typesafe.tools.mima.core.{Problem, ProblemFilters}
import com.typesafe.tools.mima.plugin.MimaPlugin.autoImport._
import sbt.Keys._
import sbt._
import sbtassembly.AssemblyPlugin.autoImport._

/** Binary compatibility with the releases, which MiMa checks. Packages named `internal` may change in each release. */
object Compatibility {
  val checked: Seq[Setting[_]] = Seq(
    mimaPreviousArtifacts := Versions.released.map(organization.value %% moduleName.value % _).toSet,
    mimaFailOnNoPrevious  := false,
    mimaBinaryIssueFilters += ProblemFilters.exclude[Problem]("splice.*internal.*")
  )

  /** The bundle has the classes of other modules. */
  val ofBundle: Seq[Setting[_]] = Seq(mimaCurrentClassfiles := assembly.value)
}
