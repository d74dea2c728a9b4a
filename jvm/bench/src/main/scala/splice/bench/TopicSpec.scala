// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** Topic to fill and read.
  *
  * @param codec
  *   compression codec of the producer: `none`, `lz4` or `zstd`
  * @param skewed
  *   true if partition 0 has nine of ten records; else all partitions have the same number of records
  */
final case class TopicSpec(
    rows: Long,
    bytes: Int,
    partitions: Int,
    codec: String = "none",
    skewed: Boolean = false
) {

  /** Name of the topic, built from the values of the specification. */
  def name: String = s"bench-$rows-$bytes-$partitions-$codec${if (skewed) "-skewed" else ""}"

  /** Partition of a record. */
  def partition(record: Long): Int =
    if (skewed && record % 10 != 0) 0 else ((if (skewed) record / 10 else record) % partitions).toInt

  override def toString: String = {
    val skew = if (skewed) ", nine of ten records in one" else ""
    f"$rows%,d records of $bytes%,d B, $codec, $partitions partitions$skew"
  }
}
