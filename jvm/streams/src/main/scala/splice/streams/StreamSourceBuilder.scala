// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import scala.collection.immutable.ListMap

import splice.source.options.{OptionSetters, SourceOptions}
import splice.source.{SourceProvider, SourceSpec}
import splice.streams.internal.options.StreamOptions

/** Immutable builder of a stream source. Each method returns a new builder. */
final class StreamSourceBuilder private[streams] (entries: Seq[(String, String)])
    extends OptionSetters[StreamSourceBuilder] {

  /** Sets an option of the stream source or of the wrapped stream. The last value of an option wins. */
  override def option(key: String, value: String): StreamSourceBuilder =
    new StreamSourceBuilder(entries.filterNot(_._1.equalsIgnoreCase(key)) :+ (key -> value))

  /** Ends the stream after all rows that were available at the start of a run. Default: no end. */
  def bounded(): StreamSourceBuilder = option(StreamOptions.Bounded.key, "true")

  /** Builds the source specification. Checks the options without access to the stream.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if an option is unknown, missing or invalid
    */
  def build(): SourceSpec = {
    val spec = SourceSpec(ListMap.from(entries))
    val _    = SourceProvider.create(SourceOptions(spec.options))
    spec
  }
}
