// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.types.StructType

import splice.source.{OptionErrors, SourceOptions, SpliceException}

/** The columns that all legs must come to. Nothing is cast: where types differ, the user says how in the leg's `select`. */
private[hybrid] object HybridSchema {

  /** The columns that the option `schema` says. */
  def parse(options: SourceOptions, ddl: String): StructType =
    try HybridColumns.nullable(StructType.fromDDL(ddl))
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

  /** The hybrid's columns, once each leg whose columns can be found out was held against them.
    *
    * A bounded leg's cannot when its storage is gone, which is no fault once the leg has ended; one that is needed still is
    * checked when it is read, and fails then.
    *
    * @param columns
    *   what a leg comes to
    */
  def resolve(chain: Chain, declared: Option[StructType])(columns: Leg => StructType): StructType = {
    val schema = declared.getOrElse(columns(chain.last))
    chain.legs.foreach { leg =>
      val known = if (leg == chain.last && declared.isEmpty) Some(schema) else found(leg)(columns)
      known.foreach(check(leg, _, schema))
    }
    schema
  }

  /** @throws SpliceException that names the leg and the first column that differs */
  def check(leg: Leg, found: StructType, wanted: StructType): Unit = {
    found.fields.foreach { column =>
      if (found.fields.count(other => HybridColumns.same(other.name, column.name)) > 1)
        throw SchemaErrors.twice(leg, column.name)
      if (column.name.equalsIgnoreCase(HybridColumns.Leg)) throw SchemaErrors.reserved(leg, column.name)
    }
    wanted.fields.foreach { column =>
      found.fields.find(f => HybridColumns.same(f.name, column.name)) match {
        case None => throw SchemaErrors.missing(leg, column.name, column.dataType, found)
        case Some(f) if f.dataType != column.dataType =>
          throw SchemaErrors.typeMismatch(leg, column.name, f.dataType, column.dataType)
        case Some(_) => ()
      }
    }
    found.fields.find(f => !wanted.fields.exists(w => HybridColumns.same(w.name, f.name))).foreach { column =>
      throw SchemaErrors.extra(leg, column.name, wanted)
    }
  }

  private def found(leg: Leg)(columns: Leg => StructType): Option[StructType] =
    if (isThere(leg)) Some(columns(leg)) else None

  /** Whether the columns of a leg's source can be determined now. */
  def isThere(leg: Leg): Boolean =
    try {
      val _ = leg.source.schema
      true
    } catch {
      case _: SpliceException             => false
      case e: SparkThrowable if isGone(e) => false
    }

  private def isGone(e: SparkThrowable): Boolean = Option(e.getCondition).exists(_.endsWith("PATH_NOT_FOUND"))
}
