// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import scala.xml.transform.{RewriteRule, RuleTransformer}
import scala.xml.{Elem, Node}

import sbt.Keys._
import sbt._
import sbtassembly.AssemblyPlugin.autoImport._

/** Publishes one artifact: the bundle, a jar of every module's classes, with kafka-clients as its only dependency. */
object Publishing {
  val dist =
    taskKey[File]("Copies the jar and that of the Kafka client to one folder, for the wheel and for spark-submit --jars")

  private val own = "io.github.splice"

  val coordinates: Seq[Setting[_]] = Seq(
    ThisBuild / organization     := own,
    ThisBuild / organizationName := "the Splice authors",
    ThisBuild / versionScheme    := Some("early-semver"),
    ThisBuild / version          := Versions.splice,
    ThisBuild / licenses         := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    ThisBuild / description := "Joins sources into one Spark stream: first the history, then the log, each row once."
  )

  val never: Seq[Setting[_]] = Seq(publish / skip := true)

  val bundle: Seq[Setting[_]] = Seq(
    moduleName       := "splice-spark",
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
    Compile / packageBin := assembly.value,
    pomPostProcess       := onlyWhatUsersNeed,
    publishTo            := Some(MavenCache("target", (ThisBuild / baseDirectory).value / "target" / "repository"))
  )

  private def legalFiles = Def.task {
    Seq("LICENSE", "NOTICE").map { name =>
      val copy = (Compile / resourceManaged).value / "META-INF" / name
      IO.copyFile((ThisBuild / baseDirectory).value / name, copy)
      copy
    }
  }

  /** Removes modules and test libraries from the pom, because the jar contains the modules and users run no tests. */
  private def onlyWhatUsersNeed: Node => Node = {
    val rule = new RewriteRule {
      override def transform(node: Node): Seq[Node] = node match {
        case e: Elem if e.label == "dependency" && ((e \ "groupId").text == own || (e \ "scope").text == "test") => Nil
        case other => other
      }
    }
    new RuleTransformer(rule).transform(_).head
  }
}
