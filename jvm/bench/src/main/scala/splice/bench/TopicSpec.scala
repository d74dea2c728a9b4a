// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench

/** A topic to fill and read.
  *
  * @param codec
  *   how the producer compresses; `none`, `lz4` or `zstd`
  * @param skewed
  *   whether partition 0 has nine of ten records; else all have the same number
  */
final case class TopicSpec(
    rows: Long,
    bytes: Int,
    partitions: Int,
    codec: String = "none",
    skewed: Boolean = false
) {

  /** Its name, which says what it is. */
  def name: String = s"bench-$rows-$bytes-$partitions-$codec${if (skewed) "-skewed" else ""}"

  /** Where a record goes. */
  def partition(record: Long): Int =
    if (skewed && record % 10 != 0) 0 else ((if (skewed) record / 10 else record) % partitions).toInt

  override def toString: String = {
    val skew = if (skewed) ", nine of ten records in one" else ""
    f"$rows%,d records of $bytes%,d B, $codec, $partitions partitions$skew"
  }
}
