// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import scala.util.Try

import org.apache.spark.sql.internal.SQLConf
import org.slf4j.LoggerFactory

import splice.source.internal.entries.{Json, SingleEntry, VersionedEntry}

/** Settings that change the values that readers return, for example the values of parsed files and of a leg's `select`.
  * A checkpoint stores the settings of its first start.
  *
  * @param settings
  *   pairs of key and text of Spark's configuration
  */
final case class SessionSettings private[splice] (settings: Seq[(String, String)]) {
  import SessionSettings._

  /** Runs `body` with these settings in the configuration of the session. */
  def within[A](body: => A): A = SQLConf.withExistingConf(conf)(body)

  /** Returns the configuration of the session or of the task, changed by these settings. */
  private[splice] def conf: SQLConf = {
    val conf = new SQLConf
    SQLConf.get.getAllConfs.foreach { case (key, value) => conf.setConfString(key, value) }
    applyTo(conf)
    conf
  }

  /** Changes a configuration to these settings. Equal settings are unchanged, because Spark logs a warning when a
    * deprecated setting is set.
    */
  private[splice] def applyTo(conf: SQLConf): Unit = settings.foreach { case (key, value) =>
    if (text(conf, key) != value) { if (value == Unset) conf.unsetConf(key) else conf.setConfString(key, value) }
  }

  /** True if the session has these settings. */
  private[splice] def isCurrent: Boolean = differences.isEmpty

  /** Settings with another value in the session: key, value of this object and value of the session. */
  private def differences: Seq[(String, String, String)] = settings.collect {
    case (key, value) if text(SQLConf.get, key) != value => (key, value, text(SQLConf.get, key))
  }
}

object SessionSettings {

  private val logger = LoggerFactory.getLogger(classOf[SessionSettings])

  private val Key = "session"

  private val rebaseModes = Set(SQLConf.PARQUET_REBASE_MODE_IN_READ.key, SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ.key)

  /** Keys without the common prefix, by their use: any expression, the grammar of `select`, and readers of files.
    * `PinnedKeysSuite` finds keys that are missing.
    */
  private val names = """
    session.timeZone ansi.enabled caseSensitive timestampType mapKeyDedupPolicy decimalOperations.allowPrecisionLoss
    legacy.timeParserPolicy binaryOutputStyle chunkBase64String.enabled icu.caseMappings.enabled
    jsonGenerator.ignoreNullFields jsonGenerator.writeNullIfWithDefaultValue function.concatBinaryAsString
    function.eltOutputAsString legacy.allowNullComparisonResultInArraySort legacy.castComplexTypesToString.enabled
    legacy.codingErrorAction legacy.collationAwareHashFunctions legacy.createEmptyCollectionUsingStringType
    legacy.decimal.retainFractionDigitsOnTruncate legacy.disableMapKeyNormalization
    legacy.followThreeValuedLogicInArrayExists legacy.javaCharsets legacy.literal.pickMinimumPrecision
    legacy.lpadRpadAlwaysReturnString legacy.negativeIndexInArrayInsert legacy.nullInEmptyListBehavior
    legacy.nullValueWrittenAsQuotedEmptyStringCsv legacy.sizeOfNull legacy.truncateForEmptyRegexSplit
    legacy.typeCoercion.datetimeToString.enabled variant.allowDuplicateKeys variant.validateUnicodeInJsonParsing

    ansi.doubleQuotedIdentifiers charAsVarchar parser.escapedStringLiterals parser.quotedRegexColumnNames
    preserveCharVarcharTypeInfo legacy.bangEqualsNot legacy.charVarcharAsString
    legacy.consecutiveStringLiterals.enabled legacy.duplicateBetweenInput legacy.exponentLiteralAsDecimal.enabled
    legacy.fromDayTimeString.enabled legacy.interval.enabled

    columnNameOfCorruptRecord csv.parser.columnPruning.enabled json.enableExactStringParsing
    json.enablePartialResults legacy.csv.enableDateTimeParsingFallback legacy.json.allowEmptyString.enabled
    legacy.json.enableDateTimeParsingFallback legacy.parquet.nanosAsLong
    legacy.parquet.returnNullStructIfAllFieldsMissing orc.mergeSchema parquet.binaryAsString
    parquet.datetimeRebaseModeInRead parquet.fieldId.read.enabled parquet.fieldId.read.ignoreMissing
    parquet.ignoreVariantAnnotation parquet.inferTimestampNTZ.enabled parquet.int96AsTimestamp
    parquet.int96RebaseModeInRead parquet.int96TimestampConversion parquet.mergeSchema
    parquet.reader.respectUnknownTypeAnnotation.enabled variant.allowReadingShredded
  """

  private[splice] val keys: Seq[String] = names.trim.split("\\s+").toSeq.map("spark.sql." + _)

  /** Text of a key that has neither a value nor a default, as in Spark's list of settings. */
  private val Unset = "<undefined>"

  private def text(conf: SQLConf, key: String): String = Option(conf.getConfString(key)).getOrElse(Unset)

  /** Returns the current settings of the session. */
  def current: SessionSettings = SessionSettings(for {
    key <- keys
    // Some versions of Spark lack some of the keys.
    value <- Try(text(SQLConf.get, key)).toOption
  } yield key -> value)

  /** Returns the settings of the checkpoint's first start. Logs a warning if the session has other settings. */
  def pinned(sideLog: SideLog): SessionSettings = {
    val first = new SingleEntry(sideLog, Key)(read).getOrCreate(write(current))
    if (!first.isCurrent) logger.warn(
      "The settings of the session differ from the settings of the first start of this checkpoint. The source uses the settings of the first start: {}",
      first.differences.map { case (key, was, is) => s"$key is '$was', and '$is' in the session" }.mkString("; ")
    )
    first
  }

  private def write(now: SessionSettings): Seq[String] = {
    val texts = now.settings.map { case (key, value) => key -> Json.text(value) }
    VersionedEntry.write("settings" -> Json.obj(texts: _*))
  }

  // This value of a rebase mode is an error for old dates, so the first start has read no such date. The error asks for
  // another value.
  private def isUndecided(setting: (String, String)): Boolean =
    rebaseModes(setting._1) && setting._2 == "EXCEPTION"

  private def read(entry: VersionedEntry): SessionSettings = {
    val settings = Json.fields(entry("settings"))
    SessionSettings(settings.map { case (key, value) => key -> value.asText }.filterNot(isUndecided))
  }
}
