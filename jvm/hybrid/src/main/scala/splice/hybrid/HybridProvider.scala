// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.{OptionSet, Position, Source, SourceOptions, SourceProvider}

/** Registers the hybrid source. */
final class HybridProvider extends SourceProvider {

  override def kind: String = HybridProvider.Kind

  override def options: OptionSet = HybridOptions.set

  override def create(options: SourceOptions): Source[_ <: Position] =
    new HybridSource(ChainParser.parse(options), options.find(HybridOptions.Schema).map(HybridSchema.parse(options, _)))
}

private[splice] object HybridProvider {
  val Kind = "hybrid"
}
