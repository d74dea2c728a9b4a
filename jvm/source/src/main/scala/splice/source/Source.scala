// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.StructType

import splice.source.internal.legs.{BatchCount, LegIdentity, LegPlan}
import splice.source.log.SharedStart
import splice.source.runtime.{Boundedness, SideLog}

/** Source of rows for batch and streaming queries (FLIP-27).
  *
  * The driver creates an instance from options. The instance holds no connection and stays on the driver. Executors
  * receive the [[SplitReaderFactory]] of its enumerator. Creation of an instance checks the options, sends no request
  * and lists no folder.
  *
  * @tparam P
  *   type of the positions of the source
  */
trait Source[P <: Position] extends Serializable {

  /** Short name of the kind of source, as in the option `source`: `files`, `kafka`, `hybrid`. */
  def kind: String

  /** Columns of a row, without metadata columns. The first call may access storage to infer the schema.
    *
    * @throws SpliceException
    *   if the schema cannot be determined, for example because a path is missing
    */
  def schema: StructType

  /** Reads a position from the text that [[Position.json]] returned.
    *
    * @throws SpliceException
    *   if a newer version of Splice or another source wrote the text, or if the text is damaged
    */
  def position(json: String): P

  /** Creates the enumerator for one run of one query. The enumerator opens no connection before its first request. */
  def enumerator(context: EnumeratorContext): SplitEnumerator[P]

  /** Boundedness of the source. By default, the source has no end. */
  def boundedness: Boundedness = Boundedness.ContinuousUnbounded

  /** Metadata columns. Spark hides these columns unless a query names the columns. Each name begins with `_`. */
  def metadataColumns: StructType = new StructType()

  /** Values that define the meaning of the positions, for example the paths of a file list. The coordinator rejects a
    * restart with another identity.
    *
    * The map omits values that equal the default, so that a later version can add a key. The map contains no secret, no
    * address of a server, and no value that may change at a restart, such as a limit.
    */
  def identity: SortedMap[String, String] = SortedMap.empty

  /** True if [[SplitReaderFactory.columnar]] can be true. Spark then needs a second planning call per batch. */
  def mayBeColumnar: Boolean = false

  /** True if a policy of the source skips rows that cannot be read. The rows of such a source depend on the columns that
    * are read.
    */
  private[splice] def skipsRows: Boolean = false

  /** Settings with which a second read may return other rows than the first read, such as `'ignoreMissingFiles' =
    * 'true'`, each with the change that removes this effect, such as `'ignoreMissingFiles' to 'false'`.
    */
  private[splice] def skipSettings: Seq[(String, String)] = Nil

  /** True if the counts of a block of [[splice.source.log.Extent]] are valid only if the readers of one plan have counted
    * all its rows. Another plan may divide the rows of the block in another way.
    */
  private[splice] def countsBlocks: Boolean = false

  /** True if the rows are the records of a log, and not copies of records. The options of the source or a hand-over
    * define the start in the log.
    */
  def readsLog: Boolean = false

  /** True if the enumerator commits positions outside of the checkpoint, for example to a consumer group. */
  def commits: Boolean = false

  /** True if the enumerator implements [[LogPartitions]], so that an exact hand-over can define its start. */
  def beginsByOffsets: Boolean = readsLog

  /** True if the enumerator can begin at [[StartPosition.Time]], so that a hand-over by time can define its start. */
  def beginsByTime: Boolean = true

  /** True if the enumerator can begin at [[StartPosition.Exact]], so that a custom hand-over can return its position. */
  def beginsByPosition: Boolean = false

  /** True if [[schema]] accesses storage, for example to list folders. A user may delete this storage after the source
    * was read to its end.
    */
  def schemaNeedsStorage: Boolean = false

  /** Names of the options that limit a batch. Real-time mode rejects these options. */
  def batchLimits: Seq[String] = Nil

  /** Task metrics that readers report to Spark's UI. */
  def taskMetrics: Seq[CustomMetric] = Nil

  /** Text of the source in Spark's plans: its kind and its identity, without secrets. */
  override def toString: String = identity.map { case (key, value) => s"$key=$value" }.mkString(s"$kind [", ", ", "]")

  /** Returns the sources that share the checkpoint: the legs of a hybrid, or only this source.
    *
    * @param log
    *   side log of the source, which the method only reads
    */
  private[splice] def legs(log: SideLog): Seq[LegIdentity] = Seq(LegIdentity(None, kind, Some(identity)))

  /** Checks the parts of the source that need storage, such as the columns of the legs that have not ended. Called at
    * each start, before the first row.
    *
    * @param log
    *   side log of the source, which the method only reads
    * @param isKnown
    *   true for a leg of an earlier start, whose storage may be unavailable now
    */
  private[splice] def preflight(log: SideLog, isKnown: String => Boolean): Unit = ()

  /** Checks the parts of the source that later batches read, such as the later legs of a hybrid. Called at the first
    * start, before the first row.
    *
    * @param context
    *   context with a temporary side log, which is discarded after the call
    */
  private[splice] def firstStart(context: EnumeratorContext): Unit = ()

  /** Returns the plan of a query over this source that starts now, with one part per leg.
    *
    * @param context
    *   context with a temporary side log, which is discarded after the call
    * @param scan
    *   true if Splice may read rows to compute a hand-over
    */
  private[splice] def plan(context: EnumeratorContext, scan: Boolean): Seq[LegPlan] =
    Using.resource(SplitEnumerator.untyped(this, context)) { enumerator =>
      enumerator.freeze()
      val start = enumerator.start(StartPosition.Configured)
      val count = BatchCount.of(enumerator, start)
      Seq(LegPlan(None, this, enumerator, enumerator.outlook(), Some(start), Some(count)))
    }

  /** True if this source can continue a checkpoint that a source of kind `other` created. */
  private[splice] def continues(other: String): Boolean = other == kind

  /** True if this source can continue a checkpoint of a Spark source that contains this offset. */
  private[splice] def takesOver(offset: Position): Boolean = false
}

/** Source that shares checkpoints with another Spark source: each of the two sources can continue a checkpoint of the
  * other source.
  */
trait SharesCheckpoint { this: Source[_] =>

  /** Format of the file that stores the first position for both sources. */
  def sharedStart: SharedStart
}
