// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.settings

import java.time.Duration

import splice.files.internal.options.{EndCondition, FileDiscovery, WatchOptions}
import splice.source.errors.OptionErrors
import splice.source.options.{FailOrWarn, SourceOptions}

/** Parsed options of a watched folder. */
final private[splice] case class WatchSettings(
    interval: Duration,
    timeout: Duration,
    minAge: Duration,
    partitionOrder: Option[String],
    fullListings: Option[Duration],
    horizon: Option[Duration],
    onLate: FailOrWarn,
    endWhen: Seq[EndCondition]
)

private[splice] object WatchSettings {

  /** Settings of a watched folder; None with `discovery=list`.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if an option is invalid, or needs `discovery=watch`
    */
  def apply(options: SourceOptions): Option[WatchSettings] = options(WatchOptions.Discovery) match {
    case FileDiscovery.Watch => Some(
        WatchSettings(
          options(WatchOptions.DiscoveryInterval),
          options(WatchOptions.DiscoveryTimeout),
          options(WatchOptions.MinFileAge),
          options.find(WatchOptions.PartitionOrder),
          options(WatchOptions.FullListingInterval),
          options(WatchOptions.LateFileHorizon),
          options(WatchOptions.LateFile),
          options.find(WatchOptions.EndsWhen).getOrElse(Nil)
        )
      )
    case FileDiscovery.List =>
      WatchOptions.needed.find(option => options.contains(option.key)).foreach { option =>
        throw OptionErrors.conflict(
          Seq(option.key, WatchOptions.Discovery.key).map(options.name),
          s"'${options.name(option.key)}' needs '${options.name(WatchOptions.Discovery.key)}' = 'watch'; set it, or " +
            "remove the option"
        )
      }
      None
  }
}
