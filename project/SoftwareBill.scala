// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import sbt.Keys._
import sbt._

/** The resolved dependencies of the bundle, from which a release writes its software bill of materials. */
object SoftwareBill {
  val dependencyTable =
    taskKey[File]("Writes a line per jar that the bundle needs: group, artifact, version, licences and SHA-256")

  val known: Seq[Setting[_]] = Seq(
    dependencyTable := {
      val table = target.value / "dependencies.tsv"
      val lines = for {
        module <- update.value.configuration(ConfigRef("runtime")).toSeq.flatMap(_.modules)
        // Spark has the library of Scala.
        if !Set(organization.value, "org.scala-lang").contains(module.module.organization)
        (artifact, jar) <- module.artifacts if artifact.extension == "jar" && artifact.classifier.isEmpty
      } yield Seq(
        module.module.organization,
        module.module.name,
        module.module.revision,
        module.licenses.map(_._1).mkString("; "),
        Hash.toHex(java.security.MessageDigest.getInstance("SHA-256").digest(IO.readBytes(jar)))
      ).mkString("\t")
      IO.writeLines(table, lines.sorted)
      table
    }
  )
}
