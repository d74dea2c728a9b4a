// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.StructType

/** What a query reads: one declaration for batch and stream (FLIP-27).
  *
  * An instance is made on the driver from options, holds no connection, and is shipped to executors only through the
  * [[SplitReaderFactory]] that it makes. Building one checks the options; it talks to no server and lists no folder.
  */
trait Source extends Serializable {

  /** The short name of its kind, as the option `source` says it: `files`, `kafka`, `hybrid`. */
  def kind: String

  def boundedness: Boundedness

  /** The columns of a row, without metadata columns. May touch storage the first time (schema inference).
    *
    * @throws SpliceException
    *   when the schema cannot be found out, for example because a path is missing
    */
  def schema: StructType

  /** Columns that are hidden until named; each name begins with `_`. */
  def metadataColumns: StructType = new StructType()

  /** What must stay the same over restarts of one checkpoint, in a fixed order: never a secret, never an address. */
  def fingerprint: Seq[(String, String)]

  /** Whether [[fingerprint]] may change between two starts of one checkpoint, as Spark's own source allows it. */
  def mayChange: Boolean = false

  /** Reads back what [[Position.json]] wrote.
    *
    * @throws SpliceException
    *   when the text is of a newer version, of another source, or damaged
    */
  def position(json: String): Position

  /** How the first position is shared with another source that goes on with the same checkpoint, if there is one. */
  def sharedStart: Option[SharedStart] = None

  /** Makes the driver's part for one run of one query. */
  def enumerator(context: EnumeratorContext): SplitEnumerator

  /** Makes the executors' part for the ranges of one batch. */
  def readers(context: ReadContext): SplitReaderFactory

  /** Whether [[SplitReaderFactory.columnar]] can ever be true, which costs Spark a second planning call a batch. */
  def mayBeColumnar: Boolean = false

  /** Whether readers evaluate expressions, whose meaning depends on the session: a checkpoint then keeps the settings of its first
    * start.
    */
  def readsBySession: Boolean = false

  /** Whether its rows are the records of a log, read from a start that its options or a hand-over choose, and not a copy of them. */
  def readsLog: Boolean = false

  /** The names of its legs in order, for a source that is made of several; else none. */
  def legs: Seq[String] = Nil

  /** Whether it must hear of the last committed batch when a query stops; Spark says so only when the next batch begins. */
  def needsLastCommit: Boolean = false

  /** Closes what this JVM keeps open for a run that has stopped, such as pooled readers. Any thread. */
  def release(run: String): Unit = ()

  /** Task metrics that readers report, for Spark's UI. */
  def taskMetrics: Seq[CustomMetric] = Nil
}
