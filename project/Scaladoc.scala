// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._
import sbtunidoc.BaseUnidocPlugin.autoImport._
import sbtunidoc.ScalaUnidocPlugin.autoImport._

/** One Scaladoc of the public interfaces of several modules. The Scaladoc has no package named `internal`. */
object Scaladoc {
  def of(modules: ProjectReference*): Seq[Setting[_]] = Seq(
    ScalaUnidoc / unidoc / unidocProjectFilter := inProjects(modules: _*),
    ScalaUnidoc / unidoc / scalacOptions       := {
      val internal = (ScalaUnidoc / unidoc / unidocAllSources).value.flatten.flatMap(internalPackage).distinct.sorted
      Seq("-encoding", "utf8", "-release", Versions.java, "-no-link-warnings", "-doc-title", "Splice") ++
        Seq("-doc-version", version.value, "-doc-footer", "Splice") ++
        (if (internal.isEmpty) Nil else Seq("-skip-packages", internal.mkString(":")))
    }
  )

  /** The package of a source file up to `internal`: Scaladoc skips the packages in it as well. */
  private def internalPackage(source: File): Option[String] = {
    val folders = source.getParentFile.getPath.split(java.io.File.separatorChar)
    val names   = folders.drop(folders.lastIndexOf("scala") + 1)
    Some(names.indexOf("internal")).filter(_ >= 0).map(last => names.take(last + 1).mkString("."))
  }
}
