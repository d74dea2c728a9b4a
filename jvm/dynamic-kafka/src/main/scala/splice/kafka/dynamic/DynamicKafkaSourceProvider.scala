// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import splice.kafka.KafkaSourceProvider
import splice.kafka.dynamic.internal.checks.DynamicChecks
import splice.kafka.dynamic.internal.options.{DynamicOptions, StreamStarts}
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.state.ChangeHistory
import splice.source.internal.checks.{CheckpointFinding, ChecksCheckpoint, StoredSource}
import splice.source.options.{OptionSet, SourceOptions}
import splice.source.runtime.{HistoryEvent, SideLog}
import splice.source.{KeepsHistory, Position, Source, SourceProvider}

/** Registers the Kafka source of many clusters. */
final class DynamicKafkaSourceProvider extends SourceProvider with KeepsHistory with ChecksCheckpoint {

  override def kind: String = DynamicKafkaSource.Kind

  override def options: OptionSet = DynamicOptions.set

  override def startOption(options: SourceOptions): Option[String] = {
    val ofAll = new KafkaSourceProvider().startOption(options)
    ofAll.orElse(options.keys.find(StreamStarts.isStart))
  }

  override def beforeAnotherLeg(options: SourceOptions): Seq[(String, String)] = KafkaSourceProvider.limit(options)

  override def create(options: SourceOptions): Source[_ <: Position] = new DynamicKafkaSource(DynamicSettings(options))

  override private[splice] def isPosition(json: String): Boolean = DynamicChecks.isPosition(json)

  override private[splice] def check(stored: StoredSource): Seq[CheckpointFinding] = DynamicChecks(stored)

  override def history(log: SideLog): Seq[HistoryEvent] = ChangeHistory(log)
}
