// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import scala.util.Try

import splice.source.internal.checks.{CheckpointFinding, ChecksCheckpoint, StoredSource}
import splice.source.options.{OptionSet, SourceOptions}
import splice.source.{Position, Source, SourceProvider}
import splice.streams.internal.options.{StreamOptions, StreamSettings}
import splice.streams.internal.split.StreamPosition

/** Registers the stream source. */
final class StreamSourceProvider extends SourceProvider with ChecksCheckpoint {

  override def kind: String = StreamSource.Kind

  override def options: OptionSet = StreamOptions.set

  override private[splice] def isPosition(json: String): Boolean = Try(StreamPosition.read(json)).isSuccess

  override private[splice] def check(stored: StoredSource): Seq[CheckpointFinding] = {
    val (positions, damaged) = stored.positions(StreamPosition.read)
    damaged ++ StoredSource.order(positions)
  }

  override def create(options: SourceOptions): Source[_ <: Position] = new StreamSource(StreamSettings(options))
}
