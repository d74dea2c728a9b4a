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

/** A source of rows: one declaration for batch and stream (FLIP-27).
  *
  * The driver creates an instance from options. It holds no connection and stays on the driver; executors get the [[SplitReaderFactory]] of
  * its enumerator. Creating one checks the options; it sends no request and lists no folder.
  *
  * @tparam P
  *   the source's positions
  */
trait Source[P <: Position] extends Serializable {

  /** The short name of its kind, as the option `source` has it: `files`, `kafka`, `hybrid`. */
  def kind: String

  /** The columns of a row, without metadata columns. The first call may access storage to infer the schema.
    *
    * @throws SpliceException
    *   when the schema cannot be determined, for example because a path is missing
    */
  def schema: StructType

  /** Reads a position from the text that [[Position.json]] wrote.
    *
    * @throws SpliceException
    *   when the text is of a newer version, of another source, or damaged
    */
  def position(json: String): P

  /** Creates the driver's part for one run of one query. It opens no connection before the first request. */
  def enumerator(context: EnumeratorContext): SplitEnumerator[P]

  /** Whether the source ends. */
  def boundedness: Boundedness = Boundedness.ContinuousUnbounded

  /** Columns that are hidden until a query names them; each name begins with `_`. */
  def metadataColumns: StructType = new StructType()

  /** What gives the positions their meaning, for example the paths of a file list. A restart with another identity is rejected.
    *
    * Values that are the default are left out, so that a later version can add a key. It contains no secret, no address of a server, and
    * nothing that may change at a restart, such as limits.
    */
  def identity: SortedMap[String, String] = SortedMap.empty

  /** Whether [[SplitReaderFactory.columnar]] can ever be true, which costs Spark a second planning call per batch. */
  def mayBeColumnar: Boolean = false

  /** Whether its rows are the records of a log, read from a start that its options or a hand-over choose, and not a copy of them. */
  def readsLog: Boolean = false

  /** Whether its enumerator commits positions outside of the checkpoint, for example to a consumer group. */
  def commits: Boolean = false

  /** Whether its enumerator has [[LogPartitions]], so that an exact hand-over can begin it. */
  def beginsByOffsets: Boolean = readsLog

  /** Whether [[schema]] accesses storage, such as folders that are listed, which may be gone once everything was read. */
  def schemaNeedsStorage: Boolean = false

  /** The options that limit a batch. Real-time mode rejects them. */
  def batchLimits: Seq[String] = Nil

  /** Task metrics that readers report, for Spark's UI. */
  def taskMetrics: Seq[CustomMetric] = Nil

  /** The source in Spark's plans: its kind and what it reads, without secrets. */
  override def toString: String = identity.map { case (key, value) => s"$key=$value" }.mkString(s"$kind [", ", ", "]")

  /** The sources that the checkpoint belongs to: the legs of a hybrid, else this source.
    *
    * @param log
    *   the source's side log, which is only read
    */
  private[splice] def legs(log: SideLog): Seq[LegIdentity] = Seq(LegIdentity(None, kind, Some(identity)))

  /** Checks at each start, before the first row, what needs storage, such as the columns of the legs that have not ended.
    *
    * @param log
    *   the source's side log, which is only read
    */
  private[splice] def preflight(log: SideLog): Unit = ()

  /** Checks at the first start, before the first row, the parts that later batches read, such as the later legs of a hybrid.
    *
    * @param context
    *   has a side log that is not the query's, and is discarded
    */
  private[splice] def firstStart(context: EnumeratorContext): Unit = ()

  /** What a query over the source would read, if it started now.
    *
    * @param context
    *   has a side log that is not a query's, and is discarded
    * @param scan
    *   whether rows may be read to decide a hand-over
    */
  private[splice] def plan(context: EnumeratorContext, scan: Boolean): Seq[LegPlan] =
    Using.resource(SplitEnumerator.untyped(this, context)) { enumerator =>
      enumerator.freeze()
      val start = enumerator.start(StartPosition.Configured)
      val count = BatchCount.of(enumerator, start)
      Seq(LegPlan(None, this, enumerator, enumerator.outlook(), Some(start), Some(count)))
    }

  /** Whether the source continues a checkpoint that a source of this kind began. */
  private[splice] def continues(other: String): Boolean = other == kind

  /** Whether the source continues a checkpoint of one of Spark's own sources that has this offset. */
  private[splice] def takesOver(offset: Position): Boolean = false
}

/** A source whose checkpoints another of Spark's sources can continue, and the other way round. */
trait SharesCheckpoint { this: Source[_] =>

  /** The file that holds the first position for both sources. */
  def sharedStart: SharedStart
}
