// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import splice.source.internal.checks.CheckpointFinding
import splice.source.internal.entries.{Json, NumberedEntries, VersionedJson}

/** Checks that a side log has the entries that every source needs, and that no numbered entry is missing. */
private[spark] object SideLogChecks {

  private val Initial = "initial"

  // The entries that every source creates before its first offset.
  private val Required = Seq(
    "chain-00000000" -> "The entry contains the source of the checkpoint.",
    Initial          -> "The entry contains the first position.",
    "session"        -> "The entry contains the settings of the session at the first start."
  )

  // Splice numbers these entries from 0, and never removes one.
  private val Kept = Set("chain", "ending", "generation", "hand-over", "identity", "new-partitions")

  // Splice numbers these entries without gaps, and removes the oldest ones.
  private val Purged = Set("change", "slots")

  /** @param isWhole
    *   true if Spark has not purged a batch, so Splice has not purged an entry either
    */
  def apply(source: CheckpointSource, isWhole: Boolean): Seq[CheckpointFinding] =
    if (source.ends.isEmpty) Nil
    else if (source.hasSideLog) {
      val begun = source.ends.headOption.flatMap(end => Json.read(end.json)).exists(!VersionedJson.isVersioned(_))
      ofKeys(source.path, source.entries.map(entry => entry.scope -> entry.key), isWhole, begun)
    } else lost(source).toSeq

  /** A checkpoint of Spark's Kafka source has no side log. No other source of Splice works without a side log. */
  private def lost(source: CheckpointSource): Option[CheckpointFinding] = source.kind.collect {
    case kind if kind != CheckpointSource.Kafka =>
      CheckpointFinding.missing(
        source.path,
        s"The source of kind $kind has offsets, and its side log is missing. The query rejects such a checkpoint."
      )
  }

  /** Checks the keys of entries, each with its scope.
    *
    * @param mayBeOfSpark
    *   true if Spark's Kafka source may have begun the checkpoint. Splice then stores no first position
    */
  private[checkpoint] def ofKeys(
      path: String,
      keys: Seq[(String, String)],
      isWhole: Boolean,
      mayBeOfSpark: Boolean
  ): Seq[CheckpointFinding] = {
    def at(scope: String, key: String) = Seq(path, scope, key).filter(_.nonEmpty).mkString("/")
    val ofSource                       = keys.collect { case ("", key) => key }.toSet
    val missing                        = Required.collect {
      case (key, reason) if !ofSource(key) =>
        val isProblem = key != Initial || !mayBeOfSpark
        CheckpointFinding.missing(at("", key), reason).copy(isProblem = isProblem)
    }
    val gaps = keys.groupMap(_._1)(_._2).toSeq.sortBy(_._1).flatMap { case (scope, names) =>
      (Kept ++ Purged).toSeq.sorted.flatMap { prefix =>
        val numbers = names.flatMap(NumberedEntries.number(prefix, _)).toSet
        val first   = if (Kept(prefix) || isWhole) 0 else numbers.minOption.getOrElse(0)
        (first until numbers.maxOption.getOrElse(0)).filterNot(numbers).map { number =>
          val key = NumberedEntries.key(prefix, number)
          CheckpointFinding.missing(at(scope, key), "Entries with greater numbers exist.")
        }
      }
    }
    missing ++ gaps.filterNot(gap => missing.exists(_.where == gap.where))
  }
}
