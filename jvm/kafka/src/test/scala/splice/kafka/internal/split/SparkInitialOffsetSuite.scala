// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.split

import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.at
import splice.source.errors.SpliceException

final class SparkInitialOffsetSuite extends AnyFunSuite {

  private def read(text: String) = SparkInitialOffset.read("sources/0/0", text.getBytes(UTF_8))

  test("the file equals the file of Spark's Kafka source") {
    val start = at(0 -> 5, 10 -> 7)
    assert(new String(SparkInitialOffset.write(start), UTF_8) == "\u0000v1\n{\"t\":{\"0\":5,\"10\":7}}")
    assert(SparkInitialOffset.read("sources/0/0", SparkInitialOffset.write(start)) == start)
  }

  test("files of Spark are read with any order of keys, including files of Spark 2.1 without a version") {
    assert(read("\u0000v1\n{\"t\":{\"10\":7,\"0\":5}}") == at(0 -> 5, 10 -> 7))
    assert(read("\u0000{\"t\":{\"0\":5}}") == at(0 -> 5))
  }

  test("a file of a newer version is an error with both versions") {
    val error = intercept[SpliceException](read("\u0000v2\n{\"t\":{\"0\":5}}"))
    assert(error.getCondition == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    assert(error.getMessage.contains("sources/0/0") && error.getMessage.contains("format 2"))
  }

  test("a file of another source is rejected with its name") {
    Seq(
      "v1\n1700000000000",
      "v2\n{\"t\":{\"0\":5}}",
      "\u0000v0\n{}7",
      "v1\n{\"path\":\"file:///a\"}",
      "",
      "\u0000"
    ).foreach {
      text =>
        val error = intercept[SpliceException](read(text))
        assert(error.getCondition == "SPLICE_CHECKPOINT.OTHER_SOURCE" && error.getMessage.contains("sources/0/0"))
    }
  }
}
