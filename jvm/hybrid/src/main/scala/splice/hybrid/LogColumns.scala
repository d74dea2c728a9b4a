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
    */
  final case class Named(offsets: OffsetColumns) extends LogColumns

  /** Columns with topic, partition and offset. */
  def of(topic: String, partition: String, offset: String): LogColumns = Named(OffsetColumns(topic, partition, offset))

  /** Columns with partition and offset, for a leg whose rows belong to the only topic of the log. */
  def ofOneTopic(partition: String, offset: String): LogColumns = Named(OffsetColumns(None, partition, offset))

  /** Columns of a leg that reads a log, and of a rule without other columns. */
  private[hybrid] val OfLog: Named = Named(OffsetColumns("topic", "partition", "offset"))

  /** See [[Excluded]]. */
  def none: LogColumns = Excluded
}
