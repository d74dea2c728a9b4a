// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._
import sbt.nio.Keys._

/** Settings of every module: flags of the compiler and JVMs of the tests. */
object CommonSettings {
  private val onCi = sys.env.get("CI").contains("true")

  private val lints = Seq(
    "-deprecation",
    "-feature",
    "-unchecked",
    "-Xlint",
    "-Wdead-code",
    "-Wextra-implicit",
    "-Woctal-literal"
  )

  /** Flags that Spark's launcher passes to its JVMs (`JavaModuleOptions`). */
  private val sparkJvm = Seq("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED") ++
    Seq("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent", "util.concurrent.atomic")
      .map(name => s"--add-opens=java.base/java.$name=ALL-UNNAMED") ++
    Seq("jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar")
      .map(name => s"--add-opens=java.base/$name=ALL-UNNAMED") ++
    Seq(
      "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
      "-XX:+IgnoreUnrecognizedVMOptions",
      "-Djdk.reflect.useDirectMethodHandle=false",
      "-Dio.netty.tryReflectionSetAccessible=true"
    )

  private val forkedJvm = Def.setting {
    val logging = (ThisBuild / baseDirectory).value / "jvm" / "log4j2-test.properties"
    sparkJvm ++
      Seq("-Xmx2g", "-Duser.timezone=UTC", "-Dspark.ui.enabled=false", s"-Dlog4j2.configurationFile=${logging.toURI}")
  }

  /** Settings of the whole build. */
  val build: Seq[Setting[_]] = TestJvms.lanes :+ (Global / onChangedBuildSource := ReloadOnSourceChanges)

  val module: Seq[Setting[_]] = Seq(
    scalaVersion := Versions.scala,
    scalacOptions ++=
      Seq("-encoding", "utf8", "-release", Versions.java) ++ lints ++ (if (onCi) Seq("-Werror") else Nil),
    Compile / scalacOptions += "-Wvalue-discard",
    Test / scalacOptions -= "-Wvalue-discard",
    Compile / doc / scalacOptions --= lints :+ "-Werror",
    javacOptions ++= Seq("-encoding", "utf8", "--release", Versions.java, "-Xlint:all,-processing,-serial") ++
      (if (onCi) Seq("-Werror") else Nil),
    Compile / doc / javacOptions := Nil,
    Test / fork                  := true,
    Test / parallelExecution     := false,
    Test / javaOptions ++= forkedJvm.value ++ TestJvms.options,
    Test / baseDirectory := (ThisBuild / baseDirectory).value,
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF"),
    Test / envVars += "SPARK_LOCAL_IP" -> "127.0.0.1",
    run / fork                         := true,
    run / javaOptions ++= forkedJvm.value,
    run / baseDirectory := (ThisBuild / baseDirectory).value,
    run / connectInput  := false
  ) ++ TestJvms.grouped

  /** Adds ScalaTest to the tests of a module. */
  val tested: Seq[Setting[_]] = Seq(libraryDependencies += Dependencies.scalatest % Test)

  /** Adds Spark to the class paths of the sources and of the tests, and to no pom. */
  val onSpark: Seq[Setting[_]] = Seq(libraryDependencies ++= Dependencies.sparkProvided)
}
