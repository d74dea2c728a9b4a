// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import java.time.Duration

import splice.source.options.SourceOptions.fold
import splice.source.options.{FailOrWarn, OptionType, SourceOption}

/** Options of a folder that the file source watches. */
private[splice] object WatchOptions {

  private val Never = "none"

  private val TimeOrNone: OptionType[Option[Duration]] = OptionType(
    "a duration such as 30s, 1h or 7d, or none",
    text => if (fold(text.trim) == Never) Some(None) else OptionType.Time.parse(text).map(Some(_))
  )

  private val PositiveTime: OptionType[Duration] =
    OptionType(s"${OptionType.Time.allowed}, more than 0", text => OptionType.Time.parse(text).filterNot(_.isZero))

  // Spark's readers have an option `mode`.
  val Discovery: SourceOption[FileDiscovery] = SourceOption(
    "discovery",
    OptionType.choice[FileDiscovery]("list" -> FileDiscovery.List, "watch" -> FileDiscovery.Watch),
    "'list' reads the files that exist at the first start of the query. 'watch' also reads files that arrive later."
  ).withDefault(FileDiscovery.List, "list")

  val DiscoveryInterval: SourceOption[Duration] = SourceOption(
    "discoveryInterval",
    PositiveTime,
    "Pause between two listings of a watched folder. The pause is at least as long as the last listing. Needs " +
      "'discovery' = 'watch'."
  ).withDefault(Duration.ofSeconds(10), "10s")

  val DiscoveryTimeout: SourceOption[Duration] = SourceOption(
    "discoveryTimeout",
    PositiveTime,
    "Time after which listings that fail one after another, or a folder without a response of the storage, end the " +
      "query. Needs 'discovery' = 'watch'."
  ).withDefault(Duration.ofMinutes(10), "10m")

  val MinFileAge: SourceOption[Duration] = SourceOption(
    "minFileAge",
    OptionType.Time,
    "Time since the last modification of a file before Splice reads the file, for writers that do not create a file " +
      "as a whole. Needs 'discovery' = 'watch'."
  ).withDefault(Duration.ZERO, "0s")

  val PartitionOrder: SourceOption[String] = SourceOption(
    "partitionOrder",
    OptionType("a column of folder names, such as day", text => Some(text.trim).filter(_.nonEmpty)),
    "Column of folder names that grows with time, such as 'day'. Most listings then skip folders with a smaller " +
      "value than the greatest value so far. Needs 'discovery' = 'watch'. Default: each listing has all folders."
  )

  val FullListingInterval: SourceOption[Option[Duration]] = SourceOption(
    "fullListingInterval",
    TimeOrNone,
    "Interval of the listings of all folders if 'partitionOrder' is set. With 'none', only the first listing of a " +
      "run has all folders. Needs 'discovery' = 'watch'."
  ).withDefault(Some(Duration.ofHours(1)), "1h")

  val LateFileHorizon: SourceOption[Option[Duration]] = SourceOption(
    "lateFileHorizon",
    TimeOrNone,
    "Age after which Splice may forget a file that it has read, if it has read more than 1,000,000 files. The age " +
      "counts from the newest file. 'none' forgets no file. Needs 'discovery' = 'watch'."
  ).withDefault(Some(Duration.ofDays(7)), "7d")

  val LateFile: SourceOption[FailOrWarn] = SourceOption(
    "onLateFile",
    FailOrWarn.option,
    "Policy for new files that are older than forgotten files. Splice cannot tell such a file from a file that it has " +
      "read. 'fail' ends the query. 'warn' logs a warning and does not read the file. Needs 'discovery' = 'watch'."
  ).withDefault(FailOrWarn.Warn, "warn")

  val EndsWhen: SourceOption[Seq[EndCondition]] = SourceOption(
    "endWhen",
    OptionType(
      "one or more of caughtUp, quiet:<duration>, file:<name>, separated by commas",
      EndCondition.parseAll
    ),
    "Conditions that end a watched folder, so that another leg can follow. The first condition that holds is enough. " +
      "'caughtUp': a listing after all files were read has no new file, or at least half of the bytes of the listing " +
      "before. 'quiet:1h': listings have found no new file for one hour. 'file:_DONE': a file of this name exists in " +
      "each path. Splice then lists the folder once more, and for 'quiet' and 'file' again while a file is younger " +
      "than 'minFileAge'. Needs 'discovery' = 'watch'. Default: the folder has no end."
  )

  /** Options that need `discovery=watch`. */
  val needed: Seq[SourceOption[_]] = Seq(
    DiscoveryInterval,
    DiscoveryTimeout,
    MinFileAge,
    PartitionOrder,
    FullListingInterval,
    LateFileHorizon,
    LateFile,
    EndsWhen
  )
}

/** Files that the source reads. */
sealed private[splice] trait FileDiscovery extends Product with Serializable

private[splice] object FileDiscovery {

  /** The files of one listing (default). */
  case object List extends FileDiscovery

  /** Also the files that arrive later. */
  case object Watch extends FileDiscovery
}

/** Condition that ends a watched folder. */
sealed private[splice] trait EndCondition extends Product with Serializable

private[splice] object EndCondition {

  case object CaughtUp extends EndCondition

  /** Listings have found no new file for this time. */
  final case class Quiet(length: Duration) extends EndCondition

  /** A file of this name exists in each path. */
  final case class Marker(name: String) extends EndCondition

  private val OfTime = "(?i)quiet:(.+)".r
  private val OfFile = "(?i)file:(.+)".r

  /** None if one of the conditions is invalid. */
  def parseAll(text: String): Option[Seq[EndCondition]] = {
    val all = text.split(",", -1).toSeq.map(part => parse(part.trim))
    Option.when(all.forall(_.nonEmpty))(all.flatten)
  }

  private def parse(text: String): Option[EndCondition] = text match {
    case OfTime(length)                           => OptionType.Time.parse(length).map(Quiet(_))
    case OfFile(name) if !name.contains("/")      => Some(Marker(name.trim))
    case other if fold(other) == fold("caughtUp") => Some(CaughtUp)
    case _                                        => None
  }
}
