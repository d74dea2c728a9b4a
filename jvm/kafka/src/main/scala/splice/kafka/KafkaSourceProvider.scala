// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import splice.kafka.internal.checks.KafkaChecks
import splice.kafka.internal.options.{AdmissionOptions, KafkaOptions, KafkaSettings}
import splice.source.internal.checks.{CheckpointFinding, ChecksCheckpoint, StoredSource}
import splice.source.options.{OptionSet, SourceOptions}
import splice.source.{Position, Source, SourceProvider}

/** Registers the Kafka source. */
final class KafkaSourceProvider extends SourceProvider with ChecksCheckpoint {

  override def kind: String = KafkaSource.Kind

  override def options: OptionSet = KafkaOptions.set

  override def startOptions: Set[String] =
    Set(KafkaOptions.Starting, KafkaOptions.StartingTimestamp, KafkaOptions.StartingTimestamps).map(_.key)

  override def beforeAnotherLeg(options: SourceOptions): Seq[(String, String)] = KafkaSourceProvider.limit(options)

  override private[splice] def isPosition(json: String): Boolean = KafkaChecks.isPosition(json)

  override private[splice] def check(stored: StoredSource): Seq[CheckpointFinding] = KafkaChecks(stored)

  override def create(options: SourceOptions): Source[_ <: Position] = new KafkaSource(KafkaSettings(options))
}

private[kafka] object KafkaSourceProvider {

  // The number of bytes in a default batch of files, divided by 800 bytes per record.
  private val Offsets = "10000000"

  /** The limit of a bounded leg of a hybrid source, unless the user has set one. With a limit, a failed task repeats
    * one batch instead of the whole leg.
    */
  def limit(options: SourceOptions): Seq[(String, String)] = {
    val limits = Seq(KafkaOptions.MaxOffsets, KafkaOptions.MinOffsets, AdmissionOptions.MaxBytes).map(_.key)
    if (limits.exists(options.contains)) Nil else Seq(KafkaOptions.MaxOffsets.key -> Offsets)
  }
}
