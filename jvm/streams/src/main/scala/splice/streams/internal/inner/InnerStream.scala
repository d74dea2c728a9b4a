// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.inner

import java.util.Optional

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory, Scan}

import splice.source.errors.SpliceException

/** Wrapped stream in one run. Offsets are texts: a stream casts an offset to its own class, so each call parses the text
  * with the stream itself. The query's thread calls all methods.
  *
  * @param folder
  *   folder of the checkpoint that only this stream uses
  */
final private[streams] class InnerStream(scan: Scan, folder: Path) {

  private val stream: MicroBatchStream = scan.toMicroBatchStream(folder.toString)

  /** True if the stream can fix its end. */
  def canEnd: Boolean = stream.isInstanceOf[SupportsTriggerAvailableNow]

  /** Fixes the end of the stream at its current end, if the stream supports this. */
  def fixEnd(): Unit = stream match {
    case ending: SupportsTriggerAvailableNow => ending.prepareForTriggerAvailableNow()
    case _                                   => ()
  }

  def initial(): String = stream.initialOffset().json

  /** Notifies the stream of the last offset of an earlier run. Called once per run, before any other offset is used. */
  def resume(latest: String): Unit = stream match {
    case accepting: AcceptsLatestSeenOffset => accepting.setLatestSeenOffset(offset(latest))
    case _                                  => ()
  }

  /** Returns the error of the stream for an offset that it cannot parse. */
  def rejection(text: String)(error: Throwable => SpliceException): Option[SpliceException] =
    try {
      val _ = offset(text)
      None
    } catch { case NonFatal(e) => Some(error(e)) }

  /** Returns the end of the batch that begins at an offset, or None if no row is available.
    *
    * @param everything
    *   true if the limits of the stream do not apply
    */
  def next(from: String, everything: Boolean): Option[String] = {
    val start  = offset(from)
    val latest = stream match {
      case admitting: SupportsAdmissionControl =>
        Option(admitting.latestOffset(
          start,
          if (everything) ReadLimit.allAvailable() else admitting.getDefaultReadLimit
        ))
      case _ => Option(stream.latestOffset())
    }
    latest.filter(_ != start).map(_.json).filter(_ != from)
  }

  def plan(from: String, until: String): Array[InputPartition] =
    stream.planInputPartitions(offset(from), offset(until))

  /** Readers of the planned partitions. Called after [[plan]]. */
  def readers(): PartitionReaderFactory = stream.createReaderFactory()

  def commit(until: String): Unit = stream.commit(offset(until))

  /** Figures of the stream, by their own names. */
  def figures(at: String): Map[String, String] = stream match {
    case reporting: ReportsSourceMetrics => reporting.metrics(Optional.of(offset(at))).asScala.toMap
    case _                               => Map.empty
  }

  def stop(): Unit = stream.stop()

  private def offset(json: String): Offset = stream.deserializeOffset(json)
}
