// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import java.nio.file.{Files, Path}

/** Generator of the reference pages of the documentation.
  *
  * {{{project/sbt "bundle/Test/runMain splice.reference.ReferencePages"}}} regenerates the pages.
  */
object ReferencePages {

  val Command = """project/sbt "bundle/Test/runMain splice.reference.ReferencePages""""

  /** File and text of each page. */
  def all(root: Path): Seq[(Path, String)] = {
    val folder = root.resolve("docs").resolve("reference")
    Seq(
      folder.resolve("options.md") -> OptionsPage.text,
      folder.resolve("errors.md")  -> ErrorsPage.text(root),
      folder.resolve("columns.md") -> ColumnsPage.text
    )
  }

  /** Writes all pages. The working directory is the root folder of the repository. */
  def main(arguments: Array[String]): Unit =
    all(Path.of("").toAbsolutePath).foreach { case (file, text) => Files.writeString(file, text) }
}
