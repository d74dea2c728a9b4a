// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.util.Using

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.{StringType, StructField, StructType}

import splice.hybrid.internal.chain.{Chain, HybridColumns}
import splice.hybrid.internal.enumerator.HybridEnumerator
import splice.hybrid.internal.handover.LegLog
import splice.hybrid.internal.options.EvidenceCheck
import splice.hybrid.internal.plan.LaterLegs
import splice.hybrid.internal.schema.{HybridSchema, LegSelects}
import splice.hybrid.internal.split.HybridPosition
import splice.source.internal.legs.{LegIdentity, LegPlan}
import splice.source.runtime.{Boundedness, SideLog}
import splice.source.{EnumeratorContext, Source, SourceSpec, SplitEnumerator}

/** A source made of sources: each leg is read to its end, then the next takes over (FLIP-150's HybridSource).
  *
  * A batch lies in one leg, or spans several when it is a bounded read or replays many batches as one; a batch of one leg is
  * columnar where that leg's reader is and its `select` names columns only. Every leg's rows come to the same columns, those of the
  * option `schema`, else of the last leg; the hidden column `_leg` names the leg of each row.
  *
  * Legs are at least once or exactly once as their hand-over says: see [[HandOver]].
  */
final class HybridSource private[splice] (chain: Chain, declared: Option[StructType]) extends Source[HybridPosition] {

  @transient private lazy val selects = new LegSelects(schema)

  override def kind: String = HybridProvider.Kind

  override def boundedness: Boundedness = chain.last.source.boundedness

  override lazy val schema: StructType = HybridSchema.resolve(chain, declared)(selects.columns)

  override def metadataColumns: StructType = StructType(
    Seq(StructField(HybridColumns.Leg, StringType, nullable = false).withComment("The leg that the row comes from."))
  )

  override private[splice] def legs(log: SideLog): Seq[LegIdentity] = {
    val known = new LegLog(log, chain)
    known.chain.legs.map { leg =>
      LegIdentity(
        Some(leg.name),
        leg.source.kind,
        Option.unless(known.hasEnded(leg))(leg.source.identity),
        known.start(leg).nonEmpty,
        known.chain.countsBefore(leg).headOption.map(_.name)
      )
    }
  }

  override private[splice] def preflight(log: SideLog): Unit = {
    val known = new LegLog(log, chain)
    EvidenceCheck(known.chain)
    HybridSchema.check(chain.legs.filter(leg => leg.source.schemaNeedsStorage && !known.hasEnded(leg)), schema)(
      selects.columns
    )
  }

  override private[splice] def firstStart(context: EnumeratorContext): Unit = LaterLegs.check(chain, context)

  override private[splice] def plan(context: EnumeratorContext, scan: Boolean): Seq[LegPlan] =
    Using.resource(new HybridEnumerator(chain, selects, context))(_.plan(scan))

  override def position(json: String): HybridPosition = HybridPosition.parse(chain, json)

  override def enumerator(context: EnumeratorContext): SplitEnumerator[HybridPosition] =
    new HybridEnumerator(chain, selects, context)

  override def batchLimits: Seq[String] =
    chain.legs.flatMap(leg => leg.source.batchLimits.map(key => s"${leg.name}.$key"))

  override lazy val mayBeColumnar: Boolean = chain.legs.exists(selects.mayBeColumnar)

  override def taskMetrics: Seq[CustomMetric] = chain.legs.flatMap(_.source.taskMetrics).distinctBy(_.name)

  override def toString: String = chain.legs.map(leg => s"${leg.name}: ${leg.source}").mkString("hybrid [", ", ", "]")
}

object HybridSource {

  /** Begins a chain with its first leg, which starts where its source says.
    *
    * @param name
    *   names the leg in options, offsets and the column `_leg`: letters, digits and underscores, a letter first
    * @param source
    *   a bounded source, unless it is the only one
    */
  def builder(name: String, source: SourceSpec): HybridSourceBuilder =
    HybridSourceBuilder.first(name, source, None)

  /** The same, with a SELECT list over the source's rows. */
  def builder(name: String, source: SourceSpec, select: String): HybridSourceBuilder =
    HybridSourceBuilder.first(name, source, Option(select))
}
