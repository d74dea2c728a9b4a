// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import org.scalatest.funsuite.AnyFunSuite

final class SideLogChecksSuite extends AnyFunSuite {

  private val required = Seq("" -> "chain-00000000", "" -> "initial", "" -> "session")

  private def missing(keys: Seq[(String, String)], isWhole: Boolean = true, mayBeOfSpark: Boolean = false) =
    SideLogChecks.ofKeys("log", keys, isWhole, mayBeOfSpark).filter(_.isProblem).map(_.where)

  test("the entries that every source creates are required") {
    assert(missing(required) == Nil)
    required.foreach(key => assert(missing(required.filterNot(_ == key)) == Seq(s"log/${key._2}")))
    assert(missing(required.filterNot(_._2 == "initial"), mayBeOfSpark = true) == Nil)
  }

  test("a number that is missing before a greater number is a missing entry") {
    val scoped = Seq("leg-live" -> "identity-00000000", "leg-live" -> "identity-00000002")
    assert(missing(required ++ scoped) == Seq("log/leg-live/identity-00000001"))
    assert(missing(required.drop(1) :+ ("" -> "chain-00000001")) == Seq("log/chain-00000000"))
  }

  test("Splice removes old slot layouts only after Spark has removed old batches") {
    val later = required ++ Seq("" -> "slots-00000001", "" -> "slots-00000002")
    assert(missing(later) == Seq("log/slots-00000000"))
    assert(missing(later, isWhole = false) == Nil)
    assert(missing(required ++ Seq("" -> "slots-00000001", "" -> "slots-00000003"), isWhole = false) ==
      Seq("log/slots-00000002"))
  }

  test("entries whose numbers may have gaps are not missing") {
    val gaps = Seq("deleted-00000002", "files-00000240", "document-00000009", "skips-00000003", "tally-00000007")
    assert(missing(required ++ gaps.map("" -> _)) == Nil)
  }
}
