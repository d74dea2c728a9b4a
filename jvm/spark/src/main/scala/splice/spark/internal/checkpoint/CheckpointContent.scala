// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.source.internal.checks.StoredOffset

/** Spark's part of a checkpoint.
  *
  * @param query
  *   id of the query, or None without a valid file `metadata`
  * @param offsets
  *   the files `offsets/<n>`, each with its content or with the reason why the content cannot be read
  * @param commits
  *   the numbers of the files `commits/<n>`
  * @param damagedCommit
  *   the last commit, if Spark cannot read its file
  */
final private[spark] case class CheckpointContent(
    query: Option[String],
    offsets: SortedMap[Long, Either[String, OffsetFile]],
    commits: SortedSet[Long],
    damagedCommit: Option[Long] = None
) {

  /** The last batch whose offsets Spark has stored. */
  def planned: Option[Long] = offsets.lastOption.map(_._1)

  def committed: Option[Long] = commits.lastOption

  /** True if Spark has not removed a batch by its default retention. */
  def isWhole: Boolean = offsets.headOption.exists(_._1 == 0) && planned.exists(_ < CheckpointContent.Retained)

  /** Batches after the last committed batch. Spark repeats the last of them at the next start. */
  def uncommitted: Seq[Long] = offsets.keysIterator.filter(batch => committed.forall(_ < batch)).toSeq

  /** Names of all sources. */
  def sources: Seq[String] = offsets.valuesIterator.flatMap(_.toOption).flatMap(_.sources).distinct.toSeq

  /** True if two numbered sources have the same offset in each batch, as two uses of one source have. */
  def hasEqualSources: Boolean = {
    val ends = sources.filter(_.toIntOption.nonEmpty).map(source => offsets.keys.toSeq.map(end(_, source)))
    ends.distinct.size < ends.size
  }

  def file(batch: Long): Option[OffsetFile] = offsets.get(batch).flatMap(_.toOption)

  /** The ends of the batches for one source, oldest first. */
  def ends(source: String): Seq[StoredOffset] =
    offsets.keysIterator.flatMap(end(_, source)).toSeq

  /** The end of a batch for one source. */
  def end(batch: Long, source: String): Option[StoredOffset] =
    file(batch).flatMap(_.position(source)).map(StoredOffset(s"offsets/$batch", _))

  /** The start of the next batch for one source, or of the batch that Spark repeats. */
  def next(source: String): Option[StoredOffset] = committed.flatMap(end(_, source))
}

private object CheckpointContent {

  // The default of spark.sql.streaming.minBatchesToRetain.
  private val Retained = 100L
}
