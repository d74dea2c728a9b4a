// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

final class ReferencePagesSuite extends AnyFunSuite {

  ReferencePages.all(Path.of("").toAbsolutePath).foreach { case (file, text) =>
    test(s"${file.getFileName} matches the code") {
      val message    = Files.readString(file).linesIterator.toSeq
      val difference = message.zipAll(text.linesIterator.toSeq, "", "").find { case (page, code) => page != code }
      assert(difference.isEmpty, s"Regenerate the reference pages: ${ReferencePages.Command}")
    }
  }
}
