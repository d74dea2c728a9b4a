// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.mutable

/** How large the records of each topic are on average, keys and values, as this run's readers found them. Used by any thread.
  *
  * What is made of it is an estimate, so it may be forgotten: how far a batch goes is in its offset.
  */
final private[splice] class RecordSizes {

  import RecordSizes._

  private val seen  = mutable.Map.empty[String, Seen]
  private val empty = mutable.Map.empty[String, Int]

  /** Takes in what a task has read of a topic. */
  def learn(topic: String, rows: Long, bytes: Long): Unit = if (rows > 0) synchronized {
    val before = seen.getOrElse(topic, Seen(0, 0))
    // Old records count for less once there are many younger ones.
    val fading = math.min(1.0, Memory / (before.rows + rows))
    seen(topic) = Seen((before.rows + rows) * fading, (before.bytes + bytes) * fading)
  }

  /** A batch went on in a topic and found no record: its offsets are those of aborted transactions, or were compacted away. */
  def foundNone(topic: String): Unit = synchronized {
    if (!seen.contains(topic)) empty(topic) = math.min(empty.getOrElse(topic, 0) + 1, Halvings)
  }

  /** What an offset is taken for, in bytes: a guess before a record was read, and less with every batch that finds none. */
  def estimate(topic: String): Double =
    of(topic).getOrElse(synchronized(Unknown / (1L << empty.getOrElse(topic, 0)).toDouble))

  /** Bytes of a record; None before one was read. */
  def of(topic: String): Option[Double] = synchronized(seen.get(topic).map(_.average))

  /** What reading rows of a topic costs, in bytes: their own and the trouble with each; in rows while no record was read. */
  def cost(topic: String, rows: Long): Long = synchronized {
    if (seen.isEmpty) rows
    else (rows * (RowOverhead + seen.get(topic).fold(mean)(_.average))).toLong
  }

  private def mean: Double = seen.valuesIterator.map(_.bytes).sum / seen.valuesIterator.map(_.rows).sum
}

private[splice] object RecordSizes {

  // Handing a record over takes about as long as copying so many bytes.
  private val RowOverhead = 300.0

  /** What a record is taken for while nobody has read one: large, so that a first batch is rather too small. */
  val Unknown: Double = 16 * 1024.0

  // Down to 128 bytes: a guess that is too small makes the first batch with records too large.
  private val Halvings = 7

  private val Memory = 1e6

  final private case class Seen(rows: Double, bytes: Double) {
    def average: Double = bytes / rows
  }
}
