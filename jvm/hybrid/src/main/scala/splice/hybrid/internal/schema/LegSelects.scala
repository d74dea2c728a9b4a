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
import splice.source.runtime.SessionSettings

/** What each leg's `select` comes to. Driver only; answers are kept, because a stream asks again for every batch. */
final private[hybrid] class LegSelects(declared: => StructType) {

  private val compiled = TrieMap.empty[(String, StructType, SessionSettings), CompiledSelect]

  /** The columns of a leg's rows in the hybrid, with the settings of the session as they are now. */
  def columns(leg: Leg): StructType = leg.select match {
    case None       => HybridColumns.nullable(leg.source.schema)
    case Some(text) => plan(leg, text, SessionSettings.current).schema
  }

  /** How to make `columns` of the hybrid's rows from those of `leg`.
    *
    * @throws splice.source.errors.SpliceException
    *   when the leg's columns cannot be found out, or are not the hybrid's
    */
  def compile(leg: Leg, columns: StructType, session: SessionSettings): CompiledSelect =
    compiled.getOrElseUpdate((leg.name, columns, session), make(leg, columns, session))

  /** Whether a leg's column vectors could be declared on as they are, as far as the text of its list tells. */
  def mayBeColumnar(leg: Leg): Boolean =
    leg.source.mayBeColumnar && leg.select.forall(SelectList.parse(active, leg.option, _).onlyColumns)

  private def make(leg: Leg, columns: StructType, session: SessionSettings): CompiledSelect = leg.select match {
    case None =>
      HybridSchema.check(leg, HybridColumns.nullable(leg.source.schema), declared)
      unchanged(leg, columns)
    case Some(text) =>
      val analysed = plan(leg, text, session)
      HybridSchema.check(leg, analysed.schema, declared)
      analysed.compile(columns, leg.name)
  }

  private def unchanged(leg: Leg, columns: StructType): CompiledSelect = {
    val asked = columns.fields.filter(_.name != HybridColumns.Leg).toSeq.map { c =>
      leg.source.schema.fields.find(own => HybridColumns.same(own.name, c.name)).getOrElse(c)
    }
    val ordinals = Iterator.from(0)
    val cells    = columns.fields.toIndexedSeq.map { c =>
      if (c.name == HybridColumns.Leg) Cell.Constant(UTF8String.fromString(leg.name)) else Cell.Column(ordinals.next())
    }
    val types = columns.fields.toIndexedSeq.map(c => if (c.name == HybridColumns.Leg) StringType else c.dataType)
    CompiledSelect(StructType(asked), if (asked.size == cells.size) RowShape.Same else RowShape.View(cells, types))
  }

  private def plan(leg: Leg, text: String, session: SessionSettings): SelectPlan =
    SelectPlan.analyse(active, session, leg.option, text, leg.source.schema, leg.source.metadataColumns)

  private def active: ClassicSession = SparkSession.active.asInstanceOf[ClassicSession]
}
