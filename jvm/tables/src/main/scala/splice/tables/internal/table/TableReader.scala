// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.table

import scala.util.control.NonFatal

import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}

import splice.source.errors.SpliceError
import splice.tables.internal.errors.TableErrors
import splice.tables.internal.options.{TableOptions, TableSettings}

/** Reads a table with Spark's reader, in the active session. Used by the thread of a query. */
final private[tables] class TableReader(settings: TableSettings) {

  /** DataFrame of the table, without the predicate of the option `where`.
    *
    * @param version
    *   option that selects a version, and its value
    * @throws splice.source.errors.SpliceException
    *   if the table or its version cannot be read
    */
  def load(version: Option[(String, String)]): DataFrame = explained(version) {
    val reader  = SparkSession.active.read.options(settings.reader)
    val pinned  = version.fold(reader) { case (key, value) => reader.option(key, value) }
    val created = settings.of match {
      case TableSettings.Named(table)   => pinned.table(table)
      case TableSettings.Format(format) => pinned.format(format).load()
    }
    created
  }

  /** DataFrame of the rows of the source.
    *
    * @throws splice.source.errors.SpliceException
    *   if Spark rejects the option `where`
    */
  def rows(version: Option[(String, String)]): DataFrame = {
    val all = load(version)
    settings.where.fold(all) { predicate =>
      try all.where(predicate)
      catch {
        case e: AnalysisException =>
          throw TableErrors.invalidWhere(settings.name(TableOptions.Where.key), predicate, reason(e), e)
      }
    }
  }

  /** Runs `body`, and adds the name of the table to an error. */
  def explained[A](version: Option[(String, String)])(body: => A): A =
    try body
    catch {
      case NonFatal(e) if !e.isInstanceOf[SpliceError] => throw TableErrors.notReadable(settings, version, e)
    }

  private def reason(e: AnalysisException): String = e.getMessage.linesIterator.nextOption().mkString
}
