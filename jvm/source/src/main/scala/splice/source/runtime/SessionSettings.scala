// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

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
    if (conf.getConfString(key) != value) conf.setConfString(key, value)
  }

  /** True if the session has these settings. */
  private[splice] def isCurrent: Boolean = differences.isEmpty

  /** Settings with another value in the session: key, value of this object and value of the session. */
  private def differences: Seq[(String, String, String)] = settings.collect {
    case (key, value) if SQLConf.get.getConfString(key) != value => (key, value, SQLConf.get.getConfString(key))
  }
}

object SessionSettings {

  private val logger = LoggerFactory.getLogger(classOf[SessionSettings])

  private val Key = "session"

  private val rebaseModes = Set(SQLConf.PARQUET_REBASE_MODE_IN_READ.key, SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ.key)

  private val keys = Seq(
    SQLConf.SESSION_LOCAL_TIMEZONE,
    SQLConf.ANSI_ENABLED,
    SQLConf.CASE_SENSITIVE,
    SQLConf.DECIMAL_OPERATIONS_ALLOW_PREC_LOSS,
    SQLConf.LEGACY_TIME_PARSER_POLICY,
    SQLConf.TIMESTAMP_TYPE,
    SQLConf.MAP_KEY_DEDUP_POLICY,
    SQLConf.JSON_GENERATOR_IGNORE_NULL_FIELDS,
    SQLConf.COLUMN_NAME_OF_CORRUPT_RECORD,
    SQLConf.ESCAPED_STRING_LITERALS,
    SQLConf.DOUBLE_QUOTED_IDENTIFIERS,
    SQLConf.JSON_ENABLE_PARTIAL_RESULTS,
    SQLConf.JSON_EXACT_STRING_PARSING,
    SQLConf.LEGACY_ALLOW_EMPTY_STRING_IN_JSON,
    SQLConf.CSV_PARSER_COLUMN_PRUNING,
    SQLConf.PARQUET_REBASE_MODE_IN_READ,
    SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ,
    SQLConf.PARQUET_BINARY_AS_STRING,
    SQLConf.PARQUET_INT96_AS_TIMESTAMP
  ).map(_.key)

  /** Returns the current settings of the session. */
  def current: SessionSettings = SessionSettings(keys.map(key => key -> SQLConf.get.getConfString(key)))

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
