// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import java.nio.file.{Files, Path}

/** The reference pages of the documentation, generated from the described code.
  *
  * {{{project/sbt "bundle/Test/runMain splice.reference.ReferencePages"}}} writes the pages again.
  */
object ReferencePages {

  val Command = """project/sbt "bundle/Test/runMain splice.reference.ReferencePages""""

  /** File and text of each page. */
  def all(root: Path): Seq[(Path, String)] = {
    val docs         = root.resolve("docs")
    val folder       = docs.resolve("reference")
    val architecture = docs.resolve("architecture.md")
    Seq(
      architecture                 -> ModulesSection.in(Files.readString(architecture)),
      folder.resolve("options.md") -> OptionsPage.text,
      folder.resolve("errors.md")  -> ErrorsPage.text(root),
      folder.resolve("columns.md") -> ColumnsPage.text,
      // The wheel contains this file, so that Python can check options without a JVM.
      root.resolve("python/src/splice/_internal/options.json") -> OptionsFile.text
    )
  }

  /** Writes all pages. The working directory is the root folder of the repository. */
  def main(arguments: Array[String]): Unit =
    all(Path.of("").toAbsolutePath).foreach { case (file, text) => Files.writeString(file, text) }
}
