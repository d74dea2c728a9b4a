// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import scala.xml.transform.{RewriteRule, RuleTransformer}
import scala.xml.{Elem, Node}

import sbt.Keys._
import sbt._
import sbtassembly.AssemblyPlugin.autoImport._
import sbtunidoc.ScalaUnidocPlugin.autoImport._

/** The published artifacts: the bundle for users, and three modules for authors of sources.
  *
  * The bundle contains the classes of each module, and has kafka-clients as its only dependency. Authors of sources
  * compile against splice-source, and test with splice-testkit, which needs splice-coordinator.
  */
object Publishing {
  val dist =
    taskKey[File](
      "Copies the jar and the jar of the Kafka client to one folder, for the wheel and for spark-submit --jars"
    )

  private val own        = "io.github.splice"
  private val repository = "github.com/splice/splice"

  val coordinates: Seq[Setting[_]] = Seq(
    ThisBuild / organization     := own,
    ThisBuild / organizationName := "the Splice authors",
    ThisBuild / versionScheme    := Some("early-semver"),
    ThisBuild / version          := Versions.splice,
    ThisBuild / licenses         := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    ThisBuild / description := "Joins sources into one Spark stream: history first, then the live log, each row once.",
    ThisBuild / homepage    := Some(url(s"https://$repository")),
    ThisBuild / scmInfo     := Some(
      ScmInfo(url(s"https://$repository"), s"scm:git:https://$repository.git", s"scm:git:https://$repository.git")
    ),
    ThisBuild / developers := List(Developer("splice", "the Splice authors", "", url(s"https://$repository")))
  )

  val never: Seq[Setting[_]] = Seq(publish / skip := true)

  /** Only a release has the jars of sources and Scaladoc: they take long to pack. */
  private val published: Seq[Setting[_]] = Seq(
    publish / skip                         := false,
    publishTo                              := Some(MavenCache("target", root.value / "target" / "repository")),
    Compile / packageSrc / publishArtifact := !isSnapshot.value,
    Compile / packageDoc / publishArtifact := !isSnapshot.value,
    Test / packageSrc / publishArtifact    := false,
    Test / packageDoc / publishArtifact    := false,
    pomPostProcess                         := onlyWhatUsersNeed(isOwn = false)
  ) ++ Compatibility.checked

  /** A module that authors of sources depend on. */
  val module: Seq[Setting[_]] = published ++ Seq(
    Compile / packageBin / mappings ++= {
      val from = root.value
      legal.map(name => from / name -> s"META-INF/$name")
    }
  )

  val bundle: Seq[Setting[_]] = published ++ Compatibility.ofBundle ++ SoftwareBill.known ++ Seq(
    name             := "splice-spark",
    moduleName       := name.value,
    autoScalaLibrary := false,
    libraryDependencies += Dependencies.kafkaClients,
    assembly / fullClasspath := (Runtime / exportedProducts).value ++ (Runtime / internalDependencyClasspath).value,
    assembly / assemblyMergeStrategy := {
      case PathList("META-INF", "services", _*) => MergeStrategy.filterDistinctLines
      case PathList("META-INF", "MANIFEST.MF")  => MergeStrategy.discard
      case _                                    => MergeStrategy.deduplicate
    },
    assembly / assemblyJarName := s"${moduleName.value}_${scalaBinaryVersion.value}-${version.value}.jar",
    assembly / test            := {},
    Compile / resourceGenerators += legalFiles.taskValue,
    dist := {
      val client = (Compile / dependencyClasspath).value.files.filter(_.getName.startsWith("kafka-clients-"))
      val folder = target.value / "dist"
      Sync.sync(streams.value.cacheStoreFactory.make("dist"))((assembly.value +: client).map(f =>
        f -> folder / f.getName
      ))
      folder
    },
    Compile / packageBin            := assembly.value,
    Compile / packageSrc / mappings := bundledSources.value,
    Compile / packageDoc / mappings := Path.allSubpaths((ScalaUnidoc / doc).value).toSeq.sortBy(_._2),
    pomPostProcess                  := onlyWhatUsersNeed(isOwn = true)
  )

  private val legal = Seq("LICENSE", "NOTICE")

  private def root = Def.setting((ThisBuild / baseDirectory).value)

  private def legalFiles = Def.task {
    val (from, to) = (root.value, (Compile / resourceManaged).value / "META-INF")
    legal.map { name =>
      val copy = to / name
      IO.copyFile(from / name, copy)
      copy
    }
  }

  private def bundledSources = Def.task {
    val files = (packageSrc / mappings)
      .all(ScopeFilter(inDependencies(ThisProject, includeRoot = false), inConfigurations(Compile)))
      .value
      .flatten
    files.filter { case (_, path) => path.endsWith(".scala") || path.endsWith(".java") }.sortBy(_._2)
  }

  /** Removes dependencies that no user needs, and elements without a value.
    *
    * @param isOwn
    *   true if the jar has the classes of the modules, so that a resolver must not search for the modules
    */
  private def onlyWhatUsersNeed(isOwn: Boolean): Node => Node = {
    val rule = new RewriteRule {
      override def transform(node: Node): Seq[Node] = node match {
        case e: Elem if e.label == "dependency" && isOwn && (e \ "groupId").text == own => Nil
        case e: Elem if e.label == "dependency" && (e \ "scope").text == "test"         => Nil
        case e: Elem if e.label == "email" && e.text.isEmpty                            => Nil
        case other                                                                      => other
      }
    }
    new RuleTransformer(rule).transform(_).head
  }
}
