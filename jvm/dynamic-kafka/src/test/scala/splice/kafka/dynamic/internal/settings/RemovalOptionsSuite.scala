// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.settings

import java.time.Duration

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.change.{CutoverOrder, OnRemoved, RemovalRules}
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions

/** Tests of the options for topics that the metadata removes. */
final class RemovalOptionsSuite extends AnyFunSuite {

  private def settings(options: (String, String)*): DynamicSettings =
    DynamicSettings(SourceOptions(Map("streams" -> "s", "metadata.file" -> "/streams.yaml") ++ options))

  test("by default, removed topics are drained while the new topics of the stream are read") {
    assert(settings().removal == RemovalRules.Default && settings().removal.onRemoved == OnRemoved.Drain)
    assert(settings().cutover == CutoverOrder.Together)
  }

  test("each option sets its policy, and the case of values is ignored") {
    val all = settings(
      "onRemoved"          -> "DROP",
      "cutover"            -> "Stream",
      "drainTimeout"       -> "10m",
      "removedRetention"   -> "2d",
      "maxRemovalFraction" -> "1"
    )
    assert(all.removal == RemovalRules(OnRemoved.Drop, Duration.ofMinutes(10), Duration.ofDays(2), 1.0))
    assert(all.cutover == CutoverOrder.Stream)
    assert(settings("onRemoved" -> "fail").removal.onRemoved == OnRemoved.Fail)
  }

  test("the error for an invalid value has the option, the value and the allowed values") {
    Seq(
      ("onRemoved", "keep", "fail, drain, drop"),
      ("cutover", "partition", "together, stream"),
      ("maxRemovalFraction", "0", "a number above 0 and up to 1")
    ).foreach { case (option, value, allowed) =>
      val error = intercept[SpliceOptionException](settings(option -> value))
      assert(error.getCondition == "SPLICE_OPTION.INVALID_VALUE", error)
      assert(error.getMessage.contains(s"'$value' is not a valid value of option '$option'. Use $allowed. "), error)
    }
  }
}
