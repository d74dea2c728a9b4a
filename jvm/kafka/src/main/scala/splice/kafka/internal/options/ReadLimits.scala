// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

/** Limits of the consumer of one reader, which bound its memory.
  *
  * A client fetches a partition only if the client holds no data of the partition. A response stays in memory until its
  * last partition is read. The number of responses in memory or in flight is therefore at most the number of assigned
  * partitions. `fetchBytes` bounds the size of one response.
  *
  * @param partitions
  *   the greatest number of assigned partitions
  * @param fetchBytes
  *   the greatest size of one response; if the first record batch is larger, the broker returns this batch alone
  * @param partitionBytes
  *   the greatest size of one partition in a response
  * @param pollRecords
  *   the greatest number of records per poll, or of groups of record batches
  * @param leftoverBytes
  *   the greatest size of polled records that belong to a later batch
  * @param batches
  *   true if a poll returns record batches
  */
final private[splice] case class ReadLimits(
    partitions: Int,
    fetchBytes: Int,
    partitionBytes: Int,
    pollRecords: Int,
    leftoverBytes: Long,
    batches: Boolean = false
) {

  /** The bytes of responses, of leftover records, and of the copy outside the heap through which a socket is read.
    * Polled batches keep their response in memory while the client requests their partitions again.
    */
  def fixedBytes: Long = ReadLimits.responses(partitions, batches) * fetchBytes + leftoverBytes

  /** The bytes of the records of one poll with this average size. If a poll returns batches, the bytes of one window of
    * decoded records.
    */
  def pollBytes(recordBytes: Double): Long =
    if (batches) ReadLimits.WindowBytes else (pollRecords * (recordBytes + ReadLimits.RecordOverhead)).toLong
}

private[splice] object ReadLimits {

  /** The least memory for all readers of one JVM. */
  val LeastBudget: Long = 16L << 20

  /** The bytes of the objects of a record on the heap, without key and value. */
  val RecordOverhead = 400

  /** The assumed size of a record before one was read, in bytes. */
  val UnknownRecord = 4096.0

  // Smaller responses cost a round trip for few records, and larger responses are not faster.
  private val LeastFetch = 16 << 10
  private val MostFetch  = 16 << 20

  // More records per poll are not faster.
  private val MostRecords = 5000

  // Each poll has a fixed cost, so it is cheaper to fetch leftover records again than to poll fewer records.
  private val LeastRecords = 500

  // The client uses the network only during polls, and each poll has a fixed cost.
  private val MostBatches = 8

  // Arrays with the positions of records, and decompressed bytes if records are small.
  private val WindowBytes = 256L << 10

  private def responses(partitions: Int, batches: Boolean): Long =
    partitions + 1L + (if (batches) math.min(partitions, MostBatches) else 0)

  /** Limits of polls that return record batches, within a number of bytes. Five eighths are for responses, one eighth
    * for leftover records, and two eighths for decoding.
    */
  def ofBatches(bytes: Long, partitions: Int): ReadLimits = {
    val room  = powerOfTwo(partitions)
    val fetch = clamp(bytes / 8 * 5 / responses(room, batches = true), LeastFetch.toLong, MostFetch.toLong)
    ReadLimits(room, fetch, fetch, MostBatches, bytes / 8, batches = true)
  }

  /** Limits of polls that return records, within a number of bytes. Half are for responses, a quarter for the records
    * of a poll, and a quarter for leftover records.
    *
    * @param recordBytes
    *   the average size of a record, if a record was read
    */
  def within(bytes: Long, partitions: Int, recordBytes: Option[Double]): ReadLimits = {
    val room    = powerOfTwo(partitions)
    val fetch   = clamp(bytes / 2 / (room + 1L), LeastFetch.toLong, MostFetch.toLong)
    val record  = recordBytes.getOrElse(UnknownRecord) + RecordOverhead
    val fitting = (bytes / 4 / record).toLong
    // At the end of its range, each partition has half a poll of leftover records on average.
    val few     = clamp(2 * fitting / room, LeastRecords.toLong, MostRecords.toLong)
    val records = clamp(fitting, 1L, few.toLong)
    ReadLimits(room, fetch, fetch, records, math.min(bytes / 4, (room * (records * record)).toLong))
  }

  /** The least power of two that is not below a number of 1 or more. */
  def powerOfTwo(number: Int): Int = Integer.highestOneBit(math.max(number, 1) * 2 - 1)

  private def clamp(value: Long, least: Long, most: Long): Int = math.min(math.max(value, least), most).toInt
}
