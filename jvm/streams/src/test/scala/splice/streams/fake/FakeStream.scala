// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.fake

import java.util.{Map => JMap, Optional}

import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Offset whose text contains characters that a JSON writer would change: spaces, a line break, escapes that are not
  * necessary, and letters beyond ASCII.
  */
final case class FakeOffset(at: Long) extends Offset {
  override def json: String = FakeOffset.text(at)
}

object FakeOffset {

  def text(at: Long): String = s"{ \"at\" : $at,\n\"\\u0061\": \"\u00e9\u2028\\ud800\\/\" }"

  /** Accepts only a text that the stream has written. */
  def parse(text: String): FakeOffset = {
    val at = text.dropWhile(!_.isDigit).takeWhile(_.isDigit)
    if (at.isEmpty || FakeOffset.text(at.toLong) != text)
      throw new IllegalArgumentException(s"'$text' is not an offset of this stream")
    FakeOffset(at.toLong)
  }
}

/** Stream without admission control. A stream casts each offset to its own class. */
class FakeStream(val log: FakeLog, options: CaseInsensitiveStringMap) extends MicroBatchStream {

  protected def at(offset: Offset): Long = offset.asInstanceOf[FakeOffset].at

  override def initialOffset(): Offset = {
    log.call("initialOffset")
    FakeOffset(options.getLong("first", 0))
  }

  override def latestOffset(): Offset = {
    log.call("latestOffset")
    FakeOffset(log.size)
  }

  override def deserializeOffset(json: String): Offset = FakeOffset.parse(json)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    log.call(s"plan ${at(start)} ${at(end)}")
    (at(start) until at(end)).groupBy(_ % FakeStream.Partitions).toSeq.sortBy(_._1).map { case (index, ids) =>
      FakePartition(
        ids.toVector,
        options.getBoolean("columnar", false),
        s"host-$index",
        options.getOrDefault("text", "row")
      ): InputPartition
    }.toArray
  }

  override def createReaderFactory(): PartitionReaderFactory = FakeReaders

  override def commit(end: Offset): Unit = log.call(s"commit ${at(end)}")

  override def stop(): Unit = log.call("stop")
}

object FakeStream {
  private val Partitions = 3
}

/** Stream with admission control, and without Trigger.AvailableNow. */
class AdmittedStream(log: FakeLog, options: CaseInsensitiveStringMap)
    extends FakeStream(log, options)
    with SupportsAdmissionControl {

  override def getDefaultReadLimit: ReadLimit = ReadLimit.maxRows(options.getLong("maxRows", 4))

  protected def last: Long = log.size

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    log.call(s"latestOffset ${at(start)}")
    if (at(start) > log.size) throw new IllegalStateException("the offset is of another table")
    val until = limit match {
      case rows: ReadMaxRows => math.min(last, at(start) + rows.maxRows)
      case _                 => last
    }
    FakeOffset(math.max(at(start), until))
  }

  override def latestOffset(): Offset = throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit)")
}

/** Stream with all interfaces. */
final class EndingStream(log: FakeLog, options: CaseInsensitiveStringMap)
    extends AdmittedStream(log, options)
    with SupportsTriggerAvailableNow
    with AcceptsLatestSeenOffset
    with ReportsSourceMetrics {

  private var end = Option.empty[Long]

  override protected def last: Long = end.getOrElse(log.size)

  override def prepareForTriggerAvailableNow(): Unit = {
    log.call("prepare")
    end = Some(log.size)
  }

  override def setLatestSeenOffset(offset: Offset): Unit = log.call(s"seen ${at(offset)}")

  override def metrics(latest: Optional[Offset]): JMap[String, String] =
    JMap.of("rowsLeft", (log.size - at(latest.get)).toString, "position", "replaced")
}
