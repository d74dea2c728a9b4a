// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import splice.source.options.{CommonOptions, OptionSet, OptionType, SourceOption, SourceOptions}
import splice.source.runtime.Boundedness
import splice.source.{Limits, Position, Source, SourceProvider}

/** Registers the source `memory`, which reads a [[MemoryLog]]. */
final private[splice] class MemoryProvider extends SourceProvider {

  override def kind: String = MemoryOptions.Kind

  override def options: OptionSet = MemoryOptions.set

  override def startOptions: Set[String] = Set(MemoryOptions.StartingOffsets.key)

  override def create(options: SourceOptions): Source[_ <: Position] = new MemorySource(
    options(MemoryOptions.Log),
    if (options(MemoryOptions.Bounded)) Boundedness.Bounded else Boundedness.ContinuousUnbounded,
    options(MemoryOptions.StartingOffsets),
    Limits.Limited(rows = options.find(MemoryOptions.MaxRows), minRows = options.find(MemoryOptions.MinRows)),
    options(MemoryOptions.Columnar)
  )
}

private[splice] object MemoryOptions {

  val Kind = "memory"

  val Log: SourceOption[String] = SourceOption("log", OptionType.Text, "Name of the log.")

  val Bounded: SourceOption[Boolean] =
    SourceOption("bounded", OptionType.Bool, "If 'true', the source ends at the end of the log at the start.")
      .withDefault(false, "false")

  val StartingOffsets: SourceOption[String] =
    SourceOption(
      "startingOffsets",
      OptionType.choice("earliest" -> "earliest", "latest" -> "latest"),
      "Start of each partition at the first start of the query."
    )
      .withDefault("earliest", "earliest")

  val MaxRows: SourceOption[Long] =
    SourceOption("maxRows", OptionType.PositiveLong, "Maximum number of rows per batch.")

  val MinRows: SourceOption[Long] =
    SourceOption("minRows", OptionType.PositiveLong, "Minimum number of rows per batch.")

  val Columnar: SourceOption[Boolean] =
    SourceOption("columnar", OptionType.Bool, "If 'true', readers return column batches.").withDefault(false, "false")

  val set: OptionSet = OptionSet("Memory", Seq(Log, Bounded, StartingOffsets, MaxRows, MinRows, Columnar))

  /** Options of a source that reads a log. */
  def of(log: MemoryLog, more: (String, String)*): Seq[(String, String)] =
    Seq(CommonOptions.Source.key -> Kind, Log.key -> log.name) ++ more
}
