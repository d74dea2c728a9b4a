// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.inner

import scala.annotation.tailrec
import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.connector.catalog.{SupportsRead, TableProvider}
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2
import org.apache.spark.sql.execution.datasources.{DataSource, FileFormat}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.StreamSourceProvider
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{DataFrame, SparkSession, classic}

import splice.streams.internal.errors.StreamErrors
import splice.streams.internal.options.{StreamOrigin, StreamSettings}

/** Table of the wrapped stream, resolved as in `spark.readStream`. */
final private[streams] class InnerTable private (
    table: SupportsRead,
    options: CaseInsensitiveStringMap,
    val schema: StructType
) {

  /** Creates the scan of one run. The rows of the scan have all columns of [[schema]], in this order. */
  def scan(): Scan = table.newScanBuilder(options).build()
}

private[streams] object InnerTable {

  /** Resolves the stream in the active session. Spark supplies the options of the session (`spark.datasource.*`), the
    * catalogs and the Python data sources.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if the format does not exist, or has no Data Source V2 stream
    * @throws splice.source.errors.SpliceException
    *   if the stream cannot be opened
    */
  def resolve(of: StreamSettings): InnerTable = {
    rejectByClass(of)
    val relation = onlyRelation(analysed(of)).getOrElse {
      throw of.origin match {
        case _: StreamOrigin.Format => StreamErrors.firstVersion(of)
        case _: StreamOrigin.Table  => StreamErrors.notAStream(of)
      }
    }
    relation.table match {
      case table if isOfSplice(table.getClass) => throw StreamErrors.nested(of)
      case table: SupportsRead                 => new InnerTable(table, relation.extraOptions, relation.schema)
      case _                                   => throw StreamErrors.notAStream(of)
    }
  }

  private def analysed(of: StreamSettings): LogicalPlan =
    try {
      val reader = SparkSession.active.readStream.options(of.inner)
      plan(of.origin match {
        case StreamOrigin.Format(name) => reader.format(name).load()
        case StreamOrigin.Table(name)  => reader.table(name)
      })
    } catch {
      case NonFatal(e) =>
        throw of.origin match {
          case StreamOrigin.Format(name) if StreamErrors.isFirstVersion(name) && !isMissing(e) =>
            StreamErrors.firstVersion(of)
          case _: StreamOrigin.Format if isMissing(e) => StreamErrors.formatNotFound(of)
          case _                                      => StreamErrors.notReadable(of, e)
        }
    }

  private def plan(rows: DataFrame): LogicalPlan = rows.asInstanceOf[classic.DataFrame].queryExecution.analyzed

  private def isMissing(e: Throwable): Boolean = e match {
    case error: SparkThrowable => error.getCondition == "DATA_SOURCE_NOT_FOUND"
    case _                     => false
  }

  /** The relation of a plan that changes no row of the relation. */
  @tailrec private def onlyRelation(plan: LogicalPlan): Option[StreamingRelationV2] = plan match {
    case alias: SubqueryAlias          => onlyRelation(alias.child)
    case relation: StreamingRelationV2 => Some(relation)
    case _                             => None
  }

  // The class of a format shows its interface without a request to a server.
  private def rejectByClass(of: StreamSettings): Unit = of.origin match {
    case StreamOrigin.Format(name) =>
      Try(DataSource.lookupDataSource(name, SQLConf.get)).toOption.foreach { found =>
        def is(kind: Class[_]) = kind.isAssignableFrom(found)
        if (isOfSplice(found)) throw StreamErrors.nested(of)
        if (is(classOf[FileFormat]) || is(classOf[FileDataSourceV2])) throw StreamErrors.files(of)
        if (is(classOf[StreamSourceProvider]) && !is(classOf[TableProvider])) throw StreamErrors.firstVersion(of)
      }
    case _: StreamOrigin.Table => ()
  }

  private def isOfSplice(of: Class[_]): Boolean = of.getName.startsWith("splice.spark.")
}
