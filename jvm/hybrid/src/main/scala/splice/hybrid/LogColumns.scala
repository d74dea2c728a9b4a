// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.OffsetColumns

/** Columns of a copied log record that identify the record. The columns belong to the source of the leg, before
  * `select` is applied.
  *
  * A leg without this option uses the columns of the rule that counts the leg; see [[HandOver.Offsets]].
  */
sealed trait LogColumns extends Product with Serializable

object LogColumns {

  /** The rows of the leg are not copies of the log. An exact hand-over ignores the leg. */
  case object Excluded extends LogColumns

  /** Columns of the leg.
    *
    * @param offsets
    *   columns with topic, partition and offset of the record
    * @param timestamp
    *   column with the timestamp of the record; None = the timestamp is not compared with the log
    * @param key
    *   column with the key of the record; None = the key is not compared with the log
    */
  final case class Named(offsets: OffsetColumns, timestamp: Option[String] = None, key: Option[String] = None)
      extends LogColumns {

    private[hybrid] def contain(others: Named): Boolean =
      others.offsets == offsets && others.timestamp.forall(timestamp.contains) && others.key.forall(key.contains)
  }

  /** Columns with topic, partition and offset. */
  def of(topic: String, partition: String, offset: String): LogColumns = Named(OffsetColumns(topic, partition, offset))

  /** Columns with topic, partition and offset, and columns with the timestamp and key to compare with the log. */
  def of(
      topic: String,
      partition: String,
      offset: String,
      timestamp: Option[String],
      key: Option[String]
  ): LogColumns = Named(OffsetColumns(topic, partition, offset), timestamp, key)

  /** Columns of a leg that reads a log. */
  private[hybrid] val OfLog: Named = Named(OffsetColumns("topic", "partition", "offset"))

  /** See [[Excluded]]. */
  def none: LogColumns = Excluded
}
