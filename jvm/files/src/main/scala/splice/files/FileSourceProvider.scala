// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import splice.files.internal.checks.FileChecks
import splice.files.internal.options.FileOptions
import splice.files.internal.settings.FileSettings
import splice.source.internal.checks.{CheckpointFinding, ChecksCheckpoint, StoredSource}
import splice.source.options.{OptionSet, SourceOptions}
import splice.source.{Position, Source, SourceProvider}

/** Registers the file source. */
final class FileSourceProvider extends SourceProvider with ChecksCheckpoint {

  override def kind: String = FileSource.Kind

  override def options: OptionSet = FileOptions.set

  // With limited batches, a failure at the end of a backfill repeats one batch and not the whole history.
  override def beforeAnotherLeg(options: SourceOptions): Seq[(String, String)] = {
    val limits = Seq(FileOptions.MaxBytesPerTrigger.key, FileOptions.MaxFilesPerTrigger.key)
    Seq(FileOptions.Empty.key -> "fail") ++
      Option.unless(limits.exists(options.contains))(FileOptions.MaxBytesPerTrigger.key -> FileSourceProvider.Bytes)
  }

  override private[splice] def isPosition(json: String): Boolean = FileChecks.isPosition(json)

  override private[splice] def check(stored: StoredSource): Seq[CheckpointFinding] = FileChecks(stored)

  override def create(options: SourceOptions): Source[_ <: Position] = new FileSource(FileSettings(options))
}

private object FileSourceProvider {

  // Two slow cores read this size in minutes, a large cluster in seconds. The overhead per batch remains small in
  // both cases.
  val Bytes = "8g"
}
