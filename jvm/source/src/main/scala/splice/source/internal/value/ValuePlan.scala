// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.value

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types._

import splice.source.errors.OptionErrors
import splice.source.internal.rows.RawRows
import splice.source.runtime.SessionSettings

/** The conversion of records to rows with parsed values. The driver creates one plan per batch.
  *
  * @param record
  *   the columns that the reader of records must return
  * @param parser
  *   an expression over one binary column
  * @param places
  *   index of each requested column in a row of `record`, or one of the constants of [[ValuePlan]]
  * @param session
  *   the settings of the first start, which also apply to the parser in tasks
  * @param log
  *   the records of the source
  */
final private[splice] case class ValuePlan(
    record: StructType,
    places: IndexedSeq[Int],
    types: IndexedSeq[DataType],
    settings: ValueSettings,
    parser: Expression,
    session: SessionSettings,
    log: ParsedLog
)

private[splice] object ValuePlan {

  /** Name of the column of values. */
  val Column = "value"

  /** The mark of the column `value`. */
  final val Value = -1

  /** The mark of the column `_corrupt`. */
  final val Corrupt = -2

  /** Returns None if no column needs a parser, since the reader of records then returns all columns. */
  def apply(
      settings: ValueSettings,
      log: ParsedLog,
      columns: StructType,
      session: SessionSettings
  ): Option[ValuePlan] = {
    val created = Map(Column -> Value, ParsedLog.Corrupt -> Corrupt)
    settings.format match {
      case ValueFormat.Json if columns.fieldNames.exists(created.contains) =>
        // The columns of errors and of the column `_corrupt` come first, so their indexes are fixed.
        val names  = ((Column +: log.id) ++ columns.fieldNames.filterNot(created.contains)).distinct
        val record = StructType(names.map(name => log.columns(name)))
        val places = columns.fieldNames.toIndexedSeq.map(name => created.getOrElse(name, names.indexOf(name)))
        val types  = columns.map(_.dataType).toIndexedSeq
        Some(ValuePlan(record, places, types, settings, parser(settings, session), session, log))
      case _ => None
    }
  }

  /** Throws an error if Spark rejects the schema or the options. Nothing is checked without an active session. */
  def check(settings: ValueSettings): Unit = if (settings.parses && SparkSession.getActiveSession.nonEmpty) {
    val _ = parser(settings, SessionSettings.current)
  }

  /** Returns an expression that throws an error for every value that Spark cannot parse. The reader catches the error
    * and applies `onParseError`.
    */
  private def parser(settings: ValueSettings, session: SessionSettings): Expression =
    try session.within(compile(settings))
    catch {
      case NonFatal(e) =>
        val message = Option(e.getMessage).getOrElse(e.toString).linesIterator.nextOption().getOrElse("")
        throw OptionErrors.invalidValue(
          settings.prefix + ValueOptions.Schema.key,
          settings.fields.toDDL,
          s"a schema that Spark's from_json accepts with the options '${settings.prefix}value.*' ($message)",
          ValueOptions.Schema.doc
        )
    }

  private def compile(settings: ValueSettings): Expression = {
    val spark   = SparkSession.active.asInstanceOf[ClassicSession]
    val bytes   = AttributeReference(Column, BinaryType)()
    val options = (settings.options ++ failing).toSeq.flatMap { case (key, text) => Seq(key, text) }.map(quoted)
    val text    =
      s"from_json(CAST(value AS STRING), ${quoted(settings.fields.toDDL)}, map(${options.mkString(", ")}))"
    val parsed = Alias(spark.sessionState.sqlParser.parseExpression(text), Column)()
    bound(spark.sessionState.executePlan(Project(Seq(parsed), RawRows(Seq(bytes)))).optimizedPlan)
  }

  private def bound(plan: LogicalPlan): Expression = plan match {
    case Project(Seq(Alias(expression, _)), leaf: RawRows) =>
      BindReferences.bindReference(expression, AttributeSeq(leaf.output))
    case other => throw new IllegalStateException(s"the plan is not an expression over one value: ${other.nodeName}")
  }

  private val failing = Map("mode" -> "FAILFAST")

  private def quoted(text: String): String = Literal(text).sql
}
