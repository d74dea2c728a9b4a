// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import org.scalatest.funsuite.AnyFunSuite

import splice.source.SourceSpec
import splice.source.errors.{SpliceError, SpliceOptionException}
import splice.source.internal.{ErrorConditions, Secrets}

final class SourceOptionsSuite extends AnyFunSuite {

  private val rows    = SourceOption("maxRows", OptionType.PositiveLong, "maximum number of rows per batch")
  private val set     = OptionSet("test", Seq(rows), _.startsWith("kafka."))
  private val options =
    SourceOptions(Map("live.MAXROWS" -> "5", "live.kafka.SASL.jaas.config" -> "pw", "Source" -> "kafka"))

  test("the case of keys is ignored, and keys keep their case") {
    assert(options(CommonOptions.Source) == "kafka")
    assert(options.scope("LIVE")(rows) == 5L)
    assert(options.scope("live").keys == Seq("kafka.SASL.jaas.config", "MAXROWS"))
  }

  test("the error for a missing option has the prefix of its leg and the description of the option") {
    val error = intercept[SpliceOptionException](SourceOptions(Map("live.x" -> "1")).scope("live")(rows))
    assert(error.getMessage.contains("'live.maxRows' is missing"))
    assert(error.getMessage.contains("maximum number of rows per batch"))
    assert(error.getCondition == "SPLICE_OPTION.MISSING")
    assert(error.getSqlState == "42616")
  }

  test("the message of each type of error ends with the SQLSTATE, and the text for a warning has no SQLSTATE") {
    val conditions = new ErrorConditions("splice/source/error-conditions.json")
    val parameters = Seq("options" -> "a, b", "reason" -> "both set the start")
    Seq[SpliceError with Throwable](
      conditions.error("SPLICE_OPTION.CONFLICT", parameters: _*),
      conditions.option("SPLICE_OPTION.CONFLICT", parameters: _*),
      conditions.unsupported("SPLICE_OPTION.CONFLICT", parameters: _*)
    ).foreach { error =>
      val text = "[SPLICE_OPTION.CONFLICT] The options of the source are not valid. " +
        "The options a, b conflict: both set the start."
      assert(error.text.linesIterator.mkString(" ") == text)
      assert(error.getMessage == s"${error.text} SQLSTATE: 42616")
    }
  }

  test("the error for a text that is not allowed names the option, the value and the allowed texts") {
    val error = intercept[SpliceOptionException](SourceOptions(Map("maxRows" -> "many"))(rows))
    assert(error.getMessage.contains("'many' is not a valid value of option 'maxRows'. Use a whole number, 1 or more"))
  }

  test("the error for an unknown option names the most similar option") {
    val error =
      intercept[SpliceOptionException](set.rejectUnknown(SourceOptions(Map("live.maxRow" -> "5")).scope("live")))
    assert(error.getMessage.contains("'live.maxRow' is unknown. Did you mean 'live.maxRows'?"))
    val far = intercept[SpliceOptionException](set.rejectUnknown(SourceOptions(Map("zzzzzz" -> "5"))))
    assert(far.getCondition == "SPLICE_OPTION.UNKNOWN")
  }

  test("the error for several unknown options names each option and its most similar option") {
    val wrong = SourceOptions(Map("live.maxRow" -> "5", "live.zzzzzz" -> "5", "live.maxRowws" -> "5")).scope("live")
    val error = intercept[SpliceOptionException](set.rejectUnknown(wrong))
    assert(error.getMessage.contains(
      "The option 'live.maxRow' is unknown. Did you mean 'live.maxRows'? " +
        "The option 'live.maxRowws' is also unknown. Did you mean 'live.maxRows'? " +
        "The option 'live.zzzzzz' is also unknown. See the option reference."
    ))
    assert(error.getMessageParameters.get("option") == "live.maxRow")
  }

  test("onUnknownOption = warn logs a warning and continues") {
    set.rejectUnknown(SourceOptions(Map("maxRow" -> "5", "onUnknownOption" -> "warn")))
    set.rejectUnknown(SourceOptions(Map("kafka.anything" -> "1")))
  }

  test("texts of options contain no secret") {
    assert(!options.toString.contains("pw"))
    assert(!SourceSpec(scala.collection.immutable.ListMap("kafka.ssl.key.password" -> "pw")).toString.contains("pw"))
    val reference = "$" + "{file:/etc/s:k}"
    assert(Secrets.redact("kafka.ssl.key.password", reference) == reference)
  }
}
