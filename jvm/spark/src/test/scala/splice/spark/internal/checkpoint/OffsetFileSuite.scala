// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import org.scalatest.funsuite.AnyFunSuite

final class OffsetFileSuite extends AnyFunSuite {

  private val numbered = OffsetFile.read("v1\n{\"batch\":1}\n{\"a\":1}\n-\n{\"c\":3}")
  private val named    = OffsetFile.read("v2\n{\"batch\":1}\nlive:{\"a\":1}\nlive2:-")

  test("a file has the offset of each source by its number or its name") {
    assert(numbered.sources == Seq("0", "1", "2") && named.sources == Seq("live", "live2"))
    assert(numbered.sources.map(numbered.position) == Seq(Some("{\"a\":1}"), None, Some("{\"c\":3}")))
    assert(named.position("live").contains("{\"a\":1}") && named.position("live2").isEmpty)
    assert(numbered.position("3").isEmpty && named.position("0").isEmpty)
  }

  test("a truncated file is not complete") {
    assert(numbered.isComplete && named.isComplete)
    assert(Seq("", "v1", "v1\n{}", "{}\n{}\n{}").forall(text => !OffsetFile.read(text).isComplete))
  }

  test("an epoch has an empty line instead of metadata") {
    assert(OffsetFile.read("v1\n\n{}").isEpoch && !numbered.isEpoch && !OffsetFile.read("").isEpoch)
  }
}
