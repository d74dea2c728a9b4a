// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** Delta, Iceberg and the JDBC driver of PostgreSQL, for tests of tables. Only `make it` resolves their jars. */
object TableFormats {
  val stage = taskKey[File]("Copies the jars of each format of tables to one folder")

  private val Delta      = config("delta").hide
  private val Iceberg    = config("iceberg").hide
  private val Postgresql = config("postgresql").hide

  /** Prefixes of the jars that Spark does not contain. */
  private val needed = Seq("delta-", "unitycatalog-", "iceberg-", "postgresql-")

  val staged: Seq[Setting[_]] = Seq(
    autoScalaLibrary := false,
    ivyConfigurations ++= Seq(Delta, Iceberg, Postgresql),
    libraryDependencies ++= Dependencies.delta.map(_ % Delta) ++ Dependencies.iceberg.map(_ % Iceberg) ++
      Dependencies.postgresql.map(_ % Postgresql),
    stage := {
      val found = update.value
      val cache = streams.value
      val into  = target.value
      Seq(Delta, Iceberg, Postgresql).foreach { format =>
        val jars = found.select(configurationFilter(format.name))
        JarFolder.sync(format.name, jars.filter(jar => needed.exists(jar.getName.startsWith)), into, cache)
      }
      into
    }
  )
}
