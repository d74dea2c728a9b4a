// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import splice.kafka.internal.errors.KafkaErrors
import splice.source.{Evidence, OffsetColumns, OffsetSummary, Position, TimeRange}

/** Evidence of the end of a bounded source, from the evidence of all clusters. */
final private[dynamic] class DynamicEvidence(override val position: Position, clusters: Seq[Evidence])
    extends Evidence {

  override def modificationTimes: Option[TimeRange] = None

  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = {
    val all = clusters.flatMap(_.offsets(columns))
    all.groupBy(_.partition).collectFirst { case (p, several) if several.size > 1 => p }.foreach { p =>
      throw KafkaErrors.cannotRespond(s"offsets of $p", "several clusters have a partition with this name")
    }
    all
  }
}
