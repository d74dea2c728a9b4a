// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Chain, HybridColumns, Leg}
import splice.hybrid.internal.enumerator.HybridEnumerator
import splice.hybrid.internal.handover.LegEntries
import splice.hybrid.internal.options.EvidenceCheck
import splice.hybrid.internal.plan.LaterLegs
import splice.hybrid.internal.schema.{HybridSchema, LegSelects}
import splice.hybrid.internal.split.HybridPosition
import splice.source.errors.SpliceError
import splice.source.internal.legs.{LegIdentity, LegPlan}
import splice.source.runtime.{Boundedness, SideLog}
import splice.source.{EnumeratorContext, Source, SourceSpec, SplitEnumerator}

/** Source that reads several sources (legs) in order. After the end of a leg, the next leg starts (FLIP-150's
  * HybridSource).
  *
  * A batch covers one leg. Bounded reads and batches that replay many batches may span several legs. A batch of one
  * leg is columnar if the reader of the leg is columnar and its `select` has only columns. All legs produce the same
  * columns: the columns of the option `schema`, else the columns of the last leg. The hidden column `_leg` has the name
  * of the leg.
  *
  * The hand-over of a leg determines its guarantee, at-least-once or exactly-once: see [[HandOver]].
  */
final class HybridSource private[splice] (chain: Chain, declared: Option[StructType]) extends Source[HybridPosition] {

  @transient private lazy val selects = new LegSelects(schema)

  override def kind: String = HybridSourceProvider.Kind

  override def boundedness: Boundedness = chain.last.source.boundedness

  override lazy val schema: StructType = HybridSchema.resolve(chain, declared)(selects.columns)

  override def metadataColumns: StructType = StructType(
    Seq(StructField(HybridColumns.Leg, StringType, nullable = false).withComment("Name of the leg that read the row."))
  )

  override private[splice] def legs(log: SideLog): Seq[LegIdentity] = {
    val known = new LegEntries(log, chain)
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

  override private[splice] def preflight(log: SideLog, isKnown: String => Boolean): Unit = {
    val known = new LegEntries(log, chain)
    EvidenceCheck(known.chain)
    val legs = chain.legs.filter(leg => leg.source.schemaNeedsStorage && !known.hasEnded(leg))
    HybridSchema.check(legs.filter(leg => !isKnown(leg.name) || isAvailable(leg)), schema)(selects.columns)
  }

  // The files of a leg may be removed after their batch, and the storage of a later leg may be unavailable until the
  // leg begins.
  private def isAvailable(leg: Leg): Boolean =
    try {
      val _ = leg.source.schema
      true
    } catch {
      case NonFatal(e) =>
        HybridSource.logger.warn(
          s"The columns of leg '${leg.name}' are not checked, because its storage is not available: ${SpliceError.text(e)}"
        )
        false
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

  private val logger = LoggerFactory.getLogger(classOf[HybridSource])

  /** Begins a chain with its first leg. The options of the source set the start.
    *
    * @param name
    *   name of the leg in options, offsets and the column `_leg`; a letter, then letters, digits and underscores
    * @param source
    *   source of the leg; bounded, unless it is the only leg
    */
  def builder(name: String, source: SourceSpec): HybridSourceBuilder =
    HybridSourceBuilder.first(name, source, None)

  /** Begins a chain with its first leg and a SELECT list over the rows of the source. */
  def builder(name: String, source: SourceSpec, select: String): HybridSourceBuilder =
    HybridSourceBuilder.first(name, source, Option(select))
}
