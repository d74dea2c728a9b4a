// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import splice.source.internal.checks.CheckpointFinding
import splice.source.internal.entries.Json

/** Checks Spark's part of a checkpoint: the logs of offsets and commits. */
private[spark] object BatchChecks {

  private val Copy = "Restore the file from a copy of the checkpoint."

  def apply(content: CheckpointContent): Seq[CheckpointFinding] =
    identity(content).toSeq ++ unreadable(content) ++ commit(content) ++ gaps(content) ++ ends(content)

  private def identity(content: CheckpointContent) = Option.when(content.query.isEmpty)(
    CheckpointFinding(
      "metadata",
      "The file is missing or damaged. Spark then gives the query another id, and a sink that detects repeated batches by this id may write rows twice.",
      Copy
    )
  )

  private def unreadable(content: CheckpointContent) = content.offsets.toSeq.flatMap {
    case (batch, Left(reason)) =>
      Some(CheckpointFinding(s"offsets/$batch", s"Spark cannot read the file: $reason", Copy))
    case (batch, Right(file)) =>
      val damaged = file.sources.flatMap(file.position).find(Json.read(_).isEmpty)
      val absent  = content.sources.diff(file.sources)
      damaged.map(text => CheckpointFinding(s"offsets/$batch", s"The offset '$text' is not JSON.", Copy)).orElse(
        Option.when(absent.nonEmpty)(CheckpointFinding(
          s"offsets/$batch",
          s"The file has no line of source ${absent.mkString(", ")}.",
          Copy
        ))
      )
  }

  private def commit(content: CheckpointContent) = content.damagedCommit.map { batch =>
    CheckpointFinding(s"commits/$batch", "Spark cannot read the file, so the next start fails.", Copy)
  }

  /** Compares the numbers of both logs from the first offset. Spark purges the log of offsets first, and no restart reads
    * a commit before the first offset.
    */
  private def gaps(content: CheckpointContent): Seq[CheckpointFinding] = {
    val offsets = content.offsets.keySet
    val first   = offsets.headOption.orElse(content.commits.headOption).getOrElse(0L)
    val last    = content.commits.lastOption.getOrElse(-1L)
    (first to last).flatMap { batch =>
      (offsets(batch), content.commits(batch)) match {
        case (true, true)  => None
        case (false, true) => Some(CheckpointFinding(s"offsets/$batch", lost(content, batch), Copy))
        case (true, false) => Some(CheckpointFinding(
            s"commits/$batch",
            s"The commit of batch $batch is missing, although batch $last is committed.",
            Copy
          ))
        case (false, false) => Some(CheckpointFinding(
            s"offsets/$batch",
            s"Batch $batch is in neither log.",
            "No step is necessary if the query uses asynchronous progress tracking. Otherwise, restore the files.",
            isProblem = false
          ))
      }
    }
  }

  private def lost(content: CheckpointContent, batch: Long) = {
    val effect =
      if (content.planned.forall(_ < batch)) s"The query would read the rows of batch $batch again"
      else if (content.planned.contains(batch + 1)) "The next start fails"
      else "A rollback to this batch is not possible"
    s"The file is missing, and batch $batch is committed. $effect."
  }

  /** Spark repeats only the last batch without a commit. Epochs of continuous mode have no such rule. */
  private def ends(content: CheckpointContent): Seq[CheckpointFinding] = {
    val open = content.uncommitted.filterNot(content.file(_).exists(_.isEpoch))
    open.dropRight(1).map { batch =>
      CheckpointFinding(
        s"commits/$batch",
        s"Batches ${open.head} to ${open.last} have no commit. Spark repeats only batch ${open.last}, so the rows of batch $batch are lost if the sink does not have them.",
        "Restore the missing commits from a copy, or delete the offsets of the batches that the sink does not have."
      )
    }
  }
}
