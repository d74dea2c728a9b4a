// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.source._

final class FingerprintSuite extends AnyFunSuite {

  final private class Named(override val fingerprint: Seq[(String, String)], override val mayChange: Boolean = false)
      extends Source[Position] {
    override def kind: String                     = "named"
    override def boundedness: Boundedness         = Boundedness.Bounded
    override def schema: StructType               = new StructType()
    override def position(json: String): Position = throw new UnsupportedOperationException
    override def enumerator(context: EnumeratorContext): SplitEnumerator[Position] =
      throw new UnsupportedOperationException
  }

  private def changed(before: Seq[(String, String)], after: Seq[(String, String)]): String = {
    val log = new MemorySideLog
    Fingerprint.check(log, new Named(before))
    Fingerprint.check(log, new Named(before))
    val error = intercept[SpliceException](Fingerprint.check(log, new Named(after)))
    assert(error.getCondition == "SPLICE_CHECKPOINT.CHANGED")
    error.getMessage
  }

  test("the first difference is named") {
    val before = Seq("legs" -> "history,live", "history.path" -> "/a", "live.topics" -> "orders")
    assert(changed(before, before.updated(1, "history.path" -> "/b")).contains("history.path was '/a' and is '/b' now"))
    assert(changed(before, before.dropRight(1)).contains("live.topics was 'orders' and is not there any more"))
    assert(changed(before, before :+ ("live.select" -> "*")).contains("live.select is '*' and was not there before"))
  }

  test("a source that may change is not held to its first fingerprint") {
    val log = new MemorySideLog
    Fingerprint.check(log, new Named(Seq("topics" -> "a"), mayChange = true))
    Fingerprint.check(log, new Named(Seq("topics" -> "b"), mayChange = true))
  }
}
