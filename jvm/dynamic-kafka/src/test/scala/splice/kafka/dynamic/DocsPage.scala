// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.nio.file.{Files, Path}

/** Pages of the documentation. Tests compare their examples and tables with the code. */
private[dynamic] object DocsPage {

  /** Text of a page in `docs`. */
  def apply(name: String): String = {
    val folders = Iterator.iterate(Path.of("").toAbsolutePath)(_.getParent).takeWhile(Option(_).nonEmpty)
    Files.readString(folders.map(_.resolve("docs").resolve(name)).find(Files.exists(_)).get)
  }
}
