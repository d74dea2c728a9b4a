// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.OffsetColumns

/** Which columns of the rows of a leg name the record of the log that a row is a copy of. They are columns of the leg's source, before its
  * `select`.
  *
  * A leg without it has the columns of the rule that counts the leg; see [[HandOver.Offsets]].
  */
sealed trait LogColumns extends Product with Serializable

object LogColumns {

  /** The rows of the leg are not copies of the log. An exact hand-over ignores the leg. */
  case object Excluded extends LogColumns

  /** The columns of the leg.
    *
    * @param offsets
    *   topic, partition and offset of the record
    * @param timestamp
    *   the timestamp of the record; None if the leg does not have it, so it is not compared with the log
    * @param key
    *   the key of the record; None if the leg does not have it, so it is not compared with the log
    */
  final case class Named(offsets: OffsetColumns, timestamp: Option[String] = None, key: Option[String] = None)
      extends LogColumns {

    private[hybrid] def contain(others: Named): Boolean =
      others.offsets == offsets && others.timestamp.forall(timestamp.contains) && others.key.forall(key.contains)
  }

  /** The columns with topic, partition and offset. */
  def of(topic: String, partition: String, offset: String): LogColumns = Named(OffsetColumns(topic, partition, offset))

  /** The columns with topic, partition and offset, and with the timestamp and the key that are compared with the log. */
  def of(
      topic: String,
      partition: String,
      offset: String,
      timestamp: Option[String],
      key: Option[String]
  ): LogColumns = Named(OffsetColumns(topic, partition, offset), timestamp, key)

  /** See [[Excluded]]. */
  def none: LogColumns = Excluded
}
