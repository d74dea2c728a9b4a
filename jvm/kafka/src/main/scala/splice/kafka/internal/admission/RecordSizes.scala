// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.mutable

/** The average size of the records of each topic, keys and values, as measured by the readers of this run. Thread-safe.
  *
  * Sizes are used for estimates, so the sizes need not be durable. The end of a batch is in its offset.
  *
  * @param prefix
  *   precedes the name of each topic in the book
  */
final private[splice] class RecordSizes private (prefix: String, book: RecordSizes.Book) {

  import RecordSizes._

  def this() = this("", new RecordSizes.Book)

  /** The same book for the topics of one cluster. The book contains a topic as `<cluster>/<topic>`. */
  def within(cluster: String): RecordSizes = new RecordSizes(s"$prefix$cluster/", book)

  /** Adds the records that a task has read from a topic. */
  def learn(topic: String, rows: Long, bytes: Long): Unit = if (rows > 0) book.synchronized {
    val before = book.seen.getOrElse(prefix + topic, Seen(0, 0))
    // The weight of old records decreases with the number of new records.
    val fading = math.min(1.0, Memory / (before.rows + rows))
    book.note(prefix + topic, before, Seen((before.rows + rows) * fading, (before.bytes + bytes) * fading))
  }

  /** Reports that a batch has read offsets of a topic without a record, such as offsets of aborted transactions or
    * compacted records.
    */
  def foundNone(topic: String): Unit = book.synchronized {
    val name = prefix + topic
    if (!book.seen.contains(name)) book.empty(name) = math.min(book.empty.getOrElse(name, 0) + 1, Halvings)
  }

  /** The estimated bytes per offset. Before the first record, a default applies, which decreases with every batch
    * without records.
    */
  def estimate(topic: String): Double = of(topic).getOrElse {
    val batches = book.synchronized(book.empty.getOrElse(prefix + topic, 0))
    Unknown / (1L << batches).toDouble
  }

  /** The average bytes per record; None before the first record. */
  def of(topic: String): Option[Double] = book.synchronized(book.seen.get(prefix + topic).map(_.average))

  /** The average bytes per record of each of these topics, if a record was read. */
  def among(topics: Set[String]): Map[String, Double] = topics.iterator.flatMap(t => of(t).map(t -> _)).toMap

  /** The cost of reading rows of a topic in bytes, with an overhead per row. Before the first record, the cost is the
    * number of rows.
    */
  def cost(topic: String, rows: Long): Long = book.synchronized {
    if (book.seen.isEmpty) rows
    else (rows * (RowOverhead + book.seen.get(prefix + topic).fold(book.mean)(_.average))).toLong
  }
}

private[splice] object RecordSizes {

  // Processing one record takes about as long as copying this number of bytes.
  private val RowOverhead = 300.0

  /** The assumed size of a record before one was read. The number is large, so that the first batch is too small rather
    * than too large.
    */
  val Unknown: Double = 16 * 1024.0

  // The default decreases to 128 bytes. A lower number would make the first batch with records too large.
  private val Halvings = 7

  private val Memory = 1e6

  /** The sizes of all topics, and the number of batches without records of each topic. */
  final private class Book {
    val seen: mutable.Map[String, Seen] = mutable.Map.empty
    val empty: mutable.Map[String, Int] = mutable.Map.empty

    // The sum over all topics, cached because each partition of a topic without records needs the mean.
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
