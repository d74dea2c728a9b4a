// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** Passes the modules below `jvm/` and the modules that their main code uses to tests, which write and check the documentation. */
object ModuleGraph {

  /** The system property `splice.modules`: `folder=used,used` per module, with `;` between modules. */
  val known: Seq[Setting[_]] = Seq(Test / javaOptions += s"-Dsplice.modules=${text.value}")

  private lazy val text = Def.setting {
    val projects                  = loadedBuild.value.allProjectRefs
    val folder                    = projects.map { case (ref, project) => ref -> project.base.getName }.toMap
    val isMain                    = (configuration: Option[String]) => configuration.forall(!_.startsWith("test"))
    def inJvm(p: ResolvedProject) = p.base.getParentFile.getName == "jvm"
    projects.collect {
      case (_, project) if inJvm(project) =>
        val uses = project.dependencies.filter(d => isMain(d.configuration)).map(d => folder(d.project))
        s"${project.base.getName}=${uses.sorted.mkString(",")}"
    }.sorted.mkString(";")
  }
}
