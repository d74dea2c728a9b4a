// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import splice.files.options.{FileOptions, FileSettings}
import splice.source.{OptionSet, Position, Source, SourceOptions, SourceProvider}

/** Registers the file source. */
final class FileSourceProvider extends SourceProvider {

  override def kind: String = FileSource.Kind

  override def options: OptionSet = FileOptions.set

  override def beforeAnotherLeg: Seq[(String, String)] = Seq(FileOptions.Empty.key -> "fail")

  override def create(options: SourceOptions): Source[_ <: Position] = new FileSource(FileSettings(options))
}
