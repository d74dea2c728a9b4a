// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.schema

import scala.util.control.NonFatal

import org.apache.spark.sql.types.StructType

import splice.hybrid.internal.chain.{Chain, HybridColumns, Leg}
import splice.hybrid.internal.errors.SchemaErrors
import splice.hybrid.internal.options.HybridOptions
import splice.source.errors.OptionErrors
import splice.source.internal.rows.PlainType
import splice.source.options.SourceOptions

/** Schema that all legs must produce. Splice never casts implicitly. If types differ, the user adds a cast to the
  * `select` of the leg.
  */
private[hybrid] object HybridSchema {

  /** Columns of the option `schema`. */
  def parse(options: SourceOptions, ddl: String): StructType =
    try PlainType.of(StructType.fromDDL(ddl))
    catch {
      case NonFatal(e) =>
        val allowed =
          s"column names with types, such as 'id BIGINT, amount DOUBLE' (${e.getMessage.linesIterator.next()})"
        throw OptionErrors.invalidValue(
          options.name(HybridOptions.Schema.key),
          ddl,
          allowed,
          HybridOptions.Schema.doc
        )
    }

  /** Columns of the hybrid source. Legs whose schema needs no storage are compared here. Other legs are compared at
    * the start of the query. Ended legs are skipped, because their storage may be unavailable.
    *
    * @param columns
    *   columns of the rows of a leg
    */
  def resolve(chain: Chain, declared: Option[StructType])(columns: Leg => StructType): StructType = {
    val schema = declared.getOrElse(columns(chain.last))
    check(chain.legs.filterNot(_.source.schemaNeedsStorage), schema)(columns)
    schema
  }

  /** Compares the columns of legs with the columns of the hybrid source.
    *
    * @throws splice.source.errors.SpliceException
    *   if columns differ, or the columns of a leg cannot be determined
    */
  def check(legs: Seq[Leg], schema: StructType)(columns: Leg => StructType): Unit =
    legs.foreach(leg => check(leg, columns(leg), schema))

  /** @throws splice.source.errors.SpliceException with the names of the leg and of the first column that differs */
  def check(leg: Leg, schema: StructType, wanted: StructType): Unit = {
    schema.fields.foreach { column =>
      if (schema.fields.count(other => HybridColumns.same(other.name, column.name)) > 1)
        throw SchemaErrors.twice(leg, column.name)
      if (column.name.equalsIgnoreCase(HybridColumns.Leg)) throw SchemaErrors.reserved(leg, column.name)
    }
    wanted.fields.foreach { column =>
      schema.fields.find(f => HybridColumns.same(f.name, column.name)) match {
        case None => throw SchemaErrors.missing(leg, column.name, column.dataType, schema)
        case Some(f) if f.dataType != column.dataType =>
          throw SchemaErrors.typeMismatch(leg, column.name, f.dataType, column.dataType)
        case Some(_) => ()
      }
    }
    schema.fields.find(f => !wanted.fields.exists(w => HybridColumns.same(w.name, f.name))).foreach { column =>
      throw SchemaErrors.extra(leg, column.name, wanted)
    }
  }
}
