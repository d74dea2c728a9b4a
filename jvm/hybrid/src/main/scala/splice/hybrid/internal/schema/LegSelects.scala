// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.schema

import scala.collection.concurrent.TrieMap

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import splice.hybrid.internal.chain.{HybridColumns, Leg}
import splice.hybrid.internal.select.RowShape.Cell
import splice.hybrid.internal.select.{CompiledSelect, RowShape, SelectList, SelectPlan}
import splice.source.internal.rows.PlainType
import splice.source.runtime.SessionSettings

/** Compiled `select` lists of the legs. Driver only. Results are cached, because a stream needs the lists for every
  * batch.
  */
final private[hybrid] class LegSelects(declared: => StructType) {

  private val compiled = TrieMap.empty[(String, StructType, SessionSettings), CompiledSelect]

  /** Columns of the hybrid source. */
  def all: StructType = declared

  /** Columns that a leg contributes to the hybrid source, under the current session settings. */
  def columns(leg: Leg): StructType = leg.select match {
    case None       => PlainType.of(leg.errors(leg.source.schema))
    case Some(text) => plan(leg, text, SessionSettings.current).schema
  }

  /** Compiles the conversion of rows of `leg` to `columns` of the hybrid source.
    *
    * @throws splice.source.errors.SpliceException
    *   if the columns of the leg cannot be determined, or differ from the columns of the hybrid source
    */
  def compile(leg: Leg, columns: StructType, session: SessionSettings): CompiledSelect =
    compiled.getOrElseUpdate((leg.name, columns, session), make(leg, columns, session))

  /** True if the text of a leg's SELECT list permits the reader to forward column vectors unchanged. */
  def mayBeColumnar(leg: Leg): Boolean =
    leg.source.mayBeColumnar && leg.select.forall(SelectList.parse(active, leg.option, _).onlyColumns)

  private def make(leg: Leg, columns: StructType, session: SessionSettings): CompiledSelect = leg.select match {
    case None =>
      HybridSchema.check(leg, PlainType.of(leg.errors(leg.source.schema)), declared)
      unchanged(leg, columns)
    case Some(text) =>
      val analysed = plan(leg, text, session)
      HybridSchema.check(leg, analysed.schema, declared)
      analysed.compile(columns, leg.name)
  }

  private def unchanged(leg: Leg, columns: StructType): CompiledSelect = {
    val requested = columns.fields.filter(_.name != HybridColumns.Leg).toSeq.map { c =>
      leg.source.schema.fields.find(field => HybridColumns.same(field.name, c.name)).getOrElse(c)
    }
    val ordinals = Iterator.from(0)
    val cells    = columns.fields.toIndexedSeq.map { c =>
      if (c.name == HybridColumns.Leg) Cell.Constant(UTF8String.fromString(leg.name)) else Cell.Column(ordinals.next())
    }
    val types = columns.fields.toIndexedSeq.map(c => if (c.name == HybridColumns.Leg) StringType else c.dataType)
    CompiledSelect(
      StructType(requested),
      if (requested.size == cells.size) RowShape.Same else RowShape.View(cells, types)
    )
  }

  private def plan(leg: Leg, text: String, session: SessionSettings): SelectPlan =
    SelectPlan.analyse(active, session, leg.option, text, leg.errors(leg.source.schema), leg.source.metadataColumns)

  private def active: ClassicSession = SparkSession.active.asInstanceOf[ClassicSession]
}
