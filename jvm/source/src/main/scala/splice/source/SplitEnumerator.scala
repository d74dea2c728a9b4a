// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.source.log.{Coverage, Outlook}
import splice.source.runtime.{ProgressMetric, Report}

/** Driver part of a source: discovers splits and determines the end of each batch (SplitEnumerator of FLIP-27).
  *
  * The query's thread calls all methods sequentially. Slow work whose result is not needed immediately, such as
  * discovery, runs on a separate thread of the enumerator. A method that waits must throw an `InterruptedException` if
  * its thread is interrupted.
  *
  * The methods [[start]] and [[advance]] may send requests to servers. When these methods return, all data that their
  * results depend on is durable, in the result or in the side log.
  *
  * @tparam P
  *   type of the positions of the source
  */
trait SplitEnumerator[P <: Position] extends AutoCloseable {

  /** Returns the fixed start position of the source. The coordinator or the hybrid stores the position together with
    * the ranges of `at`, and then does not call this method again. Later runs receive the position in
    * [[EnumeratorContext.start]].
    */
  def start(at: StartPosition): P

  /** Returns the end of the batch that begins at `from`. Returns `from` if no new rows, or fewer rows than
    * `limits.minRows`, are available.
    *
    * A call without new rows must be cheap: no listing, and at most one round trip to a server. A range may belong to a
    * split that `from` does not contain. When this method returns, the start of such a range must be durable in the
    * result or in the side log.
    */
  def advance(from: P, limits: Limits): P

  /** Returns the ranges between two positions. The ranges may belong to several batches.
    *
    * This method is pure: its result depends only on the arguments and on durable entries of the side log. The method
    * sends no request and writes no entry, so its result is the same in every run. The rows of `splits(a, c)` are the
    * rows of `splits(a, b)` and `splits(b, c)`.
    */
  def splits(from: P, until: P): Seq[SplitRange]

  /** Notes that tasks begin to read ranges. Spark has then logged their batch, except in low-latency modes. */
  private[splice] def begun(ranges: Seq[SplitRange]): Unit = ()

  /** Creates the factory of readers that executors use to read ranges of [[splits]].
    *
    * @param columns
    *   columns to read in this order: some or all columns of the source's schema and metadata columns
    * @param ranges
    *   all ranges of the batch. The factory contains only the data that these ranges need
    */
  def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory

  /** Returns the limits that the options of the source set for a batch that begins at `at`. */
  def limits(at: P): Limits.Limited = Limits.NotSet

  /** Prepares a batch that this run did not plan, because an earlier run or another source has logged the batch. Called
    * before the call of [[splits]] for this batch.
    *
    * This method may send requests. A policy may drop ranges of the batch, for example because their log no longer
    * exists. When this method returns, these decisions are durable in the side log, and [[splits]] applies them.
    */
  def replay(from: P, until: P): Unit = ()

  /** Fixes the ends of this run at the current ends (Spark's AvailableNow and Once). Called at most once, before the
    * first [[advance]]. The call may follow [[start]].
    */
  def freeze(): Unit = ()

  /** Returns the expected cost of a range of [[splits]]. Splice uses the cost only to balance slots. The cost may
    * differ between calls.
    */
  def cost(range: SplitRange): Long = range.weight

  /** Returns a function that is true for a split that may have unread rows after `at`. The coordinator removes any
    * other split from its slot.
    */
  def isMember(at: P): String => Boolean = _ => true

  /** Returns the evidence of a bounded source that is exhausted at `at`, or None if unread rows remain. */
  def evidence(at: P): Option[Evidence] = None

  /** Returns the ranges of all rows up to `at` that `covered` does not contain. Called for a bounded source that has
    * ended at `at`.
    */
  def remaining(at: P, covered: Coverage): Seq[SplitRange] = Nil

  /** Returns figures about the rows of the source before tasks read the rows. May be called before [[start]]. The method
    * may send requests and access storage. The method writes no side-log entry.
    *
    * @throws SpliceException
    *   if the source cannot be read, for example because a topic does not exist or access is denied
    */
  def outlook(): Outlook = Outlook.Unknown

  /** Receives reports of tasks that have succeeded, and of tasks that run: the backlog ([[SplitReader.backlog]]) and the
    * skipped items ([[SplitReader.skipped]]). Called before [[advance]], [[figures]] and the end of an epoch
    * or of a real-time batch ([[splice.source.runtime.OpenEnded.reached]]), if there are reports.
    */
  def reported(reports: Seq[Report]): Unit = ()

  /** Notifies the enumerator that Spark has durably committed all rows up to `until`. Idempotent. The call may be late,
    * and may never happen. Never called after [[close]].
    */
  def committed(until: P): Unit = ()

  /** Performs the last call of [[committed]], with the end of the source. If the source commits positions outside of
    * the checkpoint ([[Source.commits]]), the method waits for a short time for the commit of the end. Returns false if
    * this commit failed. The next run then calls this method again.
    */
  def commitEnd(at: P): Boolean = {
    committed(at)
    true
  }

  /** Notifies the enumerator that Spark keeps no offset before `oldest`. Each batch that is read again begins at
    * `oldest` or later, so the enumerator may remove entries that only earlier batches need. Idempotent. The call may
    * be late, and may never happen.
    */
  def retain(oldest: P): Unit = ()

  /** Notifies the enumerator that the query stops.
    *
    * @param last
    *   position after the last batch that Spark has committed. Spark reports a commit only when the next batch begins,
    *   so [[committed]] may not have been called with this position. Splice reads the checkpoint only if the enumerator
    *   evaluates this parameter
    */
  def stopped(last: => Option[P]): Unit = ()

  /** Returns figures for the query progress. [[ProgressMetric]] defines the keys. Sends no request. */
  def figures(at: P): SortedMap[String, String] = SortedMap(ProgressMetric.Position -> at.json)

  /** Returns figures that are too many for the query progress, as of the last call of [[figures]]. Called only if
    * Spark's metric system exports these figures. Sends no request.
    */
  def gauges(at: P): Iterable[(String, Long)] = Nil

  override def close(): Unit = ()
}

private[splice] object SplitEnumerator {

  /** Creates the enumerator of a source whose type of position is unknown at compile time. Spark's offsets and the legs
    * of a hybrid hold positions of any type.
    *
    * This method has the only cast of the SPI. The JVM checks each position that is passed. A position of another
    * source causes a `ClassCastException`.
    */
  def untyped(source: Source[_ <: Position], context: EnumeratorContext): SplitEnumerator[Position] =
    source.enumerator(context).asInstanceOf[SplitEnumerator[Position]]
}
