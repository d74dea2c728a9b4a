// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.mutable

/** How large the records of each topic are on average, keys and values, as this run's readers found them. Used by any thread.
  *
  * What is made of it is an estimate, so it may be forgotten: how far a batch goes is in its offset.
  *
  * @param prefix
  *   stands before the name of each topic in the book
  */
final private[splice] class RecordSizes private (prefix: String, book: RecordSizes.Book) {

  import RecordSizes._

  def this() = this("", new RecordSizes.Book)

  /** The same book, for the topics of one of several clusters: a topic here is `<cluster>/<topic>` there. */
  def within(cluster: String): RecordSizes = new RecordSizes(s"$prefix$cluster/", book)

  /** Takes in what a task has read of a topic. */
  def learn(topic: String, rows: Long, bytes: Long): Unit = if (rows > 0) book.synchronized {
    val before = book.seen.getOrElse(prefix + topic, Seen(0, 0))
    // Old records count for less once there are many younger ones.
    val fading = math.min(1.0, Memory / (before.rows + rows))
    book.note(prefix + topic, before, Seen((before.rows + rows) * fading, (before.bytes + bytes) * fading))
  }

  /** A batch went on in a topic and found no record: its offsets are those of aborted transactions, or were compacted away. */
  def foundNone(topic: String): Unit = book.synchronized {
    val name = prefix + topic
    if (!book.seen.contains(name)) book.empty(name) = math.min(book.empty.getOrElse(name, 0) + 1, Halvings)
  }

  /** What an offset is taken for, in bytes: a guess before a record was read, and less with every batch that finds none. */
  def estimate(topic: String): Double = of(topic).getOrElse {
    val batches = book.synchronized(book.empty.getOrElse(prefix + topic, 0))
    Unknown / (1L << batches).toDouble
  }

  /** Bytes of a record; None before one was read. */
  def of(topic: String): Option[Double] = book.synchronized(book.seen.get(prefix + topic).map(_.average))

  /** Bytes of a record of each of these topics, as far as one was read. */
  def among(topics: Set[String]): Map[String, Double] = topics.iterator.flatMap(t => of(t).map(t -> _)).toMap

  /** What reading rows of a topic costs, in bytes: their own and the trouble with each; in rows while no record was read. */
  def cost(topic: String, rows: Long): Long = book.synchronized {
    if (book.seen.isEmpty) rows
    else (rows * (RowOverhead + book.seen.get(prefix + topic).fold(book.mean)(_.average))).toLong
  }
}

private[splice] object RecordSizes {

  // Handing a record over takes about as long as copying so many bytes.
  private val RowOverhead = 300.0

  /** What a record is taken for while nobody has read one: large, so that a first batch is rather too small. */
  val Unknown: Double = 16 * 1024.0

  // Down to 128 bytes: a guess that is too small makes the first batch with records too large.
  private val Halvings = 7

  private val Memory = 1e6

  /** What was found of all topics, and how many batches found nothing of one. */
  final private class Book {
    val seen: mutable.Map[String, Seen] = mutable.Map.empty
    val empty: mutable.Map[String, Int] = mutable.Map.empty

    // Asked for by every partition of a topic of which nothing was read.
    private var all = Seen(0, 0)

    def note(name: String, before: Seen, now: Seen): Unit = {
      seen(name) = now
      all = Seen(all.rows + now.rows - before.rows, all.bytes + now.bytes - before.bytes)
    }

    def mean: Double = all.average
  }

  final private case class Seen(rows: Double, bytes: Double) {
    def average: Double = bytes / rows
  }
}
