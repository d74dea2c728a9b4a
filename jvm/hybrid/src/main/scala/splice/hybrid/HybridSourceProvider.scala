// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Instant

import splice.hybrid.internal.chain.LegEnumerators
import splice.hybrid.internal.checks.HybridChecks
import splice.hybrid.internal.handover.SwitchFormat
import splice.hybrid.internal.options.{ChainParser, HybridOptions}
import splice.hybrid.internal.schema.HybridSchema
import splice.source.internal.checks.{CheckpointFinding, ChecksCheckpoint, StoredSource}
import splice.source.internal.entries.Json
import splice.source.options.SourceOptions.fold
import splice.source.options.{OptionSet, SourceOptions}
import splice.source.runtime.{HistoryEvent, SideLog}
import splice.source.{KeepsHistory, LogPartition, Position, Source, SourceProvider}

/** Registers the hybrid source. */
final class HybridSourceProvider extends SourceProvider with KeepsHistory with ChecksCheckpoint {

  override def kind: String = HybridSourceProvider.Kind

  override def options: OptionSet = HybridOptions.set

  override private[splice] def isOption(key: String, of: SourceOptions): Boolean =
    super.isOption(key, of) || of.find(HybridOptions.Legs).exists(_.exists { leg =>
      def own = key.drop(leg.length + 1)
      fold(key).startsWith(s"${fold(leg)}.") &&
      (HybridOptions.leg.has(own) || SourceProvider.of(of.scope(leg)).isOption(own, of.scope(leg)))
    })

  override private[splice] def isPosition(json: String): Boolean = HybridChecks.isPosition(json)

  override private[splice] def check(stored: StoredSource): Seq[CheckpointFinding] = HybridChecks(stored)

  override private[splice] def filled(log: SideLog, leg: String): Map[LogPartition, Long] =
    SwitchFormat.fill(log.scope(LegEnumerators.scope(leg))).map { case (p, ranges) => p -> ranges.from }

  override def create(options: SourceOptions): Source[_ <: Position] =
    new HybridSource(ChainParser.parse(options), options.find(HybridOptions.Schema).map(HybridSchema.parse(options, _)))

  /** Switch to the leg that owns the scope `log`. */
  override def history(log: SideLog): Seq[HistoryEvent] = {
    val switches = SwitchFormat.entries(log)
    switches.numbers.toSeq.map { number =>
      val entry = switches(number)
      HistoryEvent(
        number.toLong,
        Some(Instant.parse(entry.text("at"))),
        None,
        HybridSourceProvider.Switch,
        Seq(entry.text("rule")),
        Some(Json.write(Json.obj(SwitchFormat.summary(entry): _*)))
      )
    }
  }
}

private[splice] object HybridSourceProvider {
  val Kind = "hybrid"

  /** Event of a switch to a leg. */
  val Switch = "handOver"

  /** Options of each leg in addition to the options of its source. */
  def legOptions: OptionSet = HybridOptions.leg
}
