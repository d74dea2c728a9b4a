// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import splice.kafka.options.{KafkaOptions, KafkaSettings}
import splice.source.{OptionSet, Position, Source, SourceOptions, SourceProvider}

/** Registers the Kafka source. */
final class KafkaSourceProvider extends SourceProvider {

  override def kind: String = KafkaSource.Kind

  override def options: OptionSet = KafkaOptions.set

  override def startOptions: Set[String] =
    Set(KafkaOptions.Starting, KafkaOptions.StartingTimestamp, KafkaOptions.StartingTimestamps).map(_.key)

  override def create(options: SourceOptions): Source[_ <: Position] = new KafkaSource(KafkaSettings(options))
}
