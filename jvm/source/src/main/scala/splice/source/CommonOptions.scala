// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** Options of every source. */
object CommonOptions {

  val Source: SourceOption[String] =
    SourceOption("source", OptionType.Text, "which source to read")

  val UnknownOptions: SourceOption[UnknownOptions] = SourceOption(
    "unknownOptions",
    OptionType.choice[UnknownOptions](
      "fail" -> splice.source.UnknownOptions.Fail,
      "warn" -> splice.source.UnknownOptions.Warn
    ),
    "what to do with an option that no part of the source knows"
  ).withDefault(splice.source.UnknownOptions.Fail, "fail")

  val Slots: SourceOption[Int] = SourceOption(
    "slots",
    OptionType.PositiveInt,
    "how many tasks share the splits of a log, such as Kafka partitions; by default as many as there are cores when the query first starts, never more than splits"
  )

  val set: OptionSet = OptionSet("Every source", Seq(Source, UnknownOptions, Slots))
}

/** What to do with options that are not known. */
sealed trait UnknownOptions extends Product with Serializable

object UnknownOptions {
  case object Fail extends UnknownOptions
  case object Warn extends UnknownOptions
}
