// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.source.internal.rows.PlainType
import splice.source.options.CommonOptions
import splice.source.runtime.Boundedness
import splice.source.{EnumeratorContext, Limits, Source, SplitEnumerator}
import splice.tables.internal.enumerator.{SparkTable, TableEnumerator, TablePosition}
import splice.tables.internal.options.{TableOptions, TableSettings}
import splice.tables.internal.table.TableReader

/** Bounded source of a table that Spark can read, such as a table of Delta, Iceberg or JDBC, or a view.
  *
  * The first start of a query fixes the version of the table, and divides the table into slices. A batch reads whole
  * slices. [[splice.tables.internal.options.TableOptions]] defines the options. All other options are passed to Spark's
  * reader.
  */
final class TableSource private[tables] (private[tables] val settings: TableSettings) extends Source[TablePosition] {

  override def kind: String = TableSource.Kind

  override def boundedness: Boundedness = Boundedness.Bounded

  /** Columns of the requested version, or of the current version. */
  override lazy val schema: StructType = PlainType.of(new TableReader(settings).rows(settings.requested).schema)

  override def identity: SortedMap[String, String] = settings.identity

  override def toString: String = s"$kind [${settings.shown}]"

  override def position(json: String): TablePosition = TablePosition.read(json)

  override def enumerator(context: EnumeratorContext): SplitEnumerator[TablePosition] =
    new TableEnumerator(
      new SparkTable(settings, context.session),
      Limits.Limited(bytes = settings.maxBytes),
      context
    )

  override def batchLimits: Seq[String] = Seq(TableOptions.MaxBytesPerTrigger.key)

  override def mayBeColumnar: Boolean = true

  override def beginsByTime: Boolean = false

  override def schemaNeedsStorage: Boolean = true

  override private[splice] def countsBlocks: Boolean = true
}

object TableSource {

  private[tables] val Kind = "table"

  /** Begins the definition of a source of a table or view in a catalog of Spark.
    *
    * @param table
    *   name such as `lake.sales.orders`
    */
  def table(table: String): TableSourceBuilder =
    new TableSourceBuilder(Seq(CommonOptions.Source.key -> Kind, TableOptions.Table.key -> table))

  /** Begins the definition of a source of a table that options locate.
    *
    * @param format
    *   format of `spark.read`, such as `delta` or `jdbc`
    */
  def format(format: String): TableSourceBuilder =
    new TableSourceBuilder(Seq(CommonOptions.Source.key -> Kind, TableOptions.Format.key -> format))
}
