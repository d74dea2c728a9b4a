// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** HDFS and the S3A client of Hadoop, for tests of checkpoints. Only `make it` resolves their jars. */
object Stores {
  val stage = taskKey[File]("Copies the jars of an HDFS server and of the S3A client to one folder each")

  private val Hdfs = config("hdfs").hide
  private val S3a  = config("s3a").hide

  /** Prefixes of the jars of the S3A client that Spark contains. */
  private val ofSpark = Seq("netty-", "httpc", "commons-", "slf4j-")

  val staged: Seq[Setting[_]] = Seq(
    autoScalaLibrary := false,
    ivyConfigurations ++= Seq(Hdfs, S3a),
    libraryDependencies ++= Dependencies.hdfsServer.map(_ % Hdfs) ++ Dependencies.s3aClient.map(_ % S3a),
    stage := {
      def jars(of: Configuration) = update.value.select(configurationFilter(of.name))
      JarFolder.sync("hdfs", jars(Hdfs), target.value, streams.value)
      val client = jars(S3a).filterNot(jar => ofSpark.exists(jar.getName.startsWith))
      JarFolder.sync("s3a", client, target.value, streams.value)
      target.value
    }
  )
}
