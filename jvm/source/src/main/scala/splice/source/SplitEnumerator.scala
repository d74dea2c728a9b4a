// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.source.log.{Coverage, Outlook}
import splice.source.runtime.{ProgressMetric, Report}

/** The driver's part of a source: finds splits and decides how far each batch reads (FLIP-27's SplitEnumerator).
  *
  * The query's thread calls all methods, one after another. Work that may be slow and is not needed at once, such as discovery, runs on a
  * thread of the enumerator. A call that waits must end with `InterruptedException` when its thread is interrupted.
  *
  * [[start]] and [[advance]] may send requests to servers; all that their results depend on is durable, in the result or in the side log,
  * when they return.
  *
  * @tparam P
  *   the source's positions
  */
trait SplitEnumerator[P <: Position] extends AutoCloseable {

  /** The fixed position at which the source begins. The coordinator or the hybrid stores it with the ranges of `at`, and does not call this
    * method again. Later runs have it in [[EnumeratorContext.start]].
    */
  def start(at: StartPosition): P

  /** The end of the batch that begins at `from`: `from` itself when nothing new is available, or fewer rows than `limits.minRows`.
    *
    * Cheap when idle: no listing, one round trip to a server. The start of every range of a split that `from` does not
    * contain must be durable, in the result or in the side log, when this returns.
    */
  def advance(from: P, limits: Limits): P

  /** The ranges between two positions; several batches may lie between them.
    *
    * Pure: the result depends on the arguments and on durable entries of the side log. It sends no request and writes no entry, so it
    * is the same in every run. `splits(a, c)` has the rows of `splits(a, b)` and `splits(b, c)`.
    */
  def splits(from: P, until: P): Seq[SplitRange]

  /** The readers of ranges of [[splits]], for executors.
    *
    * @param columns
    *   the columns in order: some or all of the source's schema and metadata columns
    * @param ranges
    *   all ranges of the batch, so that only what they need is shipped
    */
  def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory

  /** The limits that the source's options set for a batch that begins at `at`. */
  def limits(at: P): Limits.Limited = Limits.NotSet

  /** Prepares a batch that this run did not plan, before its [[splits]]: one that an earlier run or another source logged.
    *
    * It may send requests. What it decides, such as ranges that a policy drops because their log does not exist any more, is durable in
    * the side log when this returns, and [[splits]] obeys it.
    */
  def replay(from: P, until: P): Unit = ()

  /** Freezes the ends of this run as they are now (Spark's AvailableNow). Called at most once, before [[start]] and [[advance]]. */
  def freeze(): Unit = ()

  /** The expected cost of a range of [[splits]], for balance between slots only: it may change from call to call. */
  def cost(range: SplitRange): Long = range.weight

  /** Whether a split may still have something to read after `at`. A split that has nothing leaves its slot. */
  def isMember(at: P): String => Boolean = _ => true

  /** The end of a bounded source that is exhausted at `at`; None while there is more to read. */
  def evidence(at: P): Option[Evidence] = None

  /** The ranges of all rows up to `at` that `covered` does not contain. Called for a bounded source that has ended at `at`. */
  def remaining(at: P, covered: Coverage): Seq[SplitRange] = Nil

  /** What is known of the rows before they are read; may be called before [[start]]. It may send requests and access storage, and
    * writes no entry.
    *
    * @throws SpliceException
    *   when the source cannot be read, for example because a topic does not exist or access is denied
    */
  def outlook(): Outlook = Outlook.Unknown

  /** Reports of tasks that have succeeded. Called before [[advance]] and [[figures]], if there are reports. */
  def reported(reports: Seq[Report]): Unit = ()

  /** Spark has durably committed all rows up to `until`. Idempotent; comes late, or never. */
  def committed(until: P): Unit = ()

  /** The last call of [[committed]], with the end of the source. It waits for a short time until the end is where the source commits
    * positions outside of the checkpoint ([[Source.commits]]). False if that failed; then the next run calls it again.
    */
  def commitEnd(at: P): Boolean = {
    committed(at)
    true
  }

  /** Spark keeps no offset before `oldest`, so each batch that is read again begins there or later. The enumerator may remove the entries
    * that only earlier batches need. Idempotent; comes late, or never.
    */
  def retain(oldest: P): Unit = ()

  /** The query stops.
    *
    * @param last
    *   the position after the last batch that Spark has committed. Spark reports a commit only when the next batch begins, so [[committed]]
    *   may not have been called with it. The checkpoint is read only if the position is used.
    */
  def stopped(last: => Option[P]): Unit = ()

  /** Figures for the query progress. Sends no request. Keys are those of [[ProgressMetric]]. */
  def figures(at: P): SortedMap[String, String] = SortedMap(ProgressMetric.Position -> at.json)

  /** Figures that are too many for the query progress, as of the last call of [[figures]]. Called only if Spark's metric system shows them.
    * Sends no request.
    */
  def gauges(at: P): Iterable[(String, Long)] = Nil

  override def close(): Unit = ()
}

private[splice] object SplitEnumerator {

  /** The enumerator of a source whose type of position is not known: Spark's offsets and the legs of a hybrid hold positions of any type.
    * The only cast of the SPI; the JVM checks each position that is passed, and a position of another source fails with a
    * `ClassCastException`.
    */
  def untyped(source: Source[_ <: Position], context: EnumeratorContext): SplitEnumerator[Position] =
    source.enumerator(context).asInstanceOf[SplitEnumerator[Position]]
}
