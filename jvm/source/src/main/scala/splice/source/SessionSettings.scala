// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import org.apache.spark.sql.internal.SQLConf

/** Settings that change what expressions in readers mean, such as a leg's `select`; a checkpoint keeps those of its first start.
  *
  * @param settings
  *   keys of Spark's configuration and their texts
  */
final case class SessionSettings private[splice] (settings: Seq[(String, String)]) {

  /** Runs `body` as if the session had these settings. */
  def within[A](body: => A): A = {
    val conf = SQLConf.get.clone()
    settings.foreach { case (key, value) => conf.setConfString(key, value) }
    SQLConf.withExistingConf(conf)(body)
  }
}

object SessionSettings {

  private val Key = "session"

  private val keys = Seq(
    SQLConf.SESSION_LOCAL_TIMEZONE,
    SQLConf.ANSI_ENABLED,
    SQLConf.CASE_SENSITIVE,
    SQLConf.DECIMAL_OPERATIONS_ALLOW_PREC_LOSS
  ).map(_.key)

  /** The settings of the session as they are now. */
  def current: SessionSettings = SessionSettings(keys.map(key => key -> SQLConf.get.getConfString(key)))

  /** The settings of the checkpoint's first start. */
  def pinned(log: SideLog): SessionSettings =
    read(log.getOrCreate(Key)(write(current)))

  private def write(now: SessionSettings): Seq[String] = {
    val texts = now.settings.map { case (key, value) => key -> Json.text(value) }
    VersionedEntry.write("settings" -> Json.obj(texts: _*))
  }

  private def read(lines: Seq[String]): SessionSettings = {
    val settings = Json.fields(VersionedEntry.read(Key, lines)("settings"))
    SessionSettings(settings.map { case (key, value) => key -> value.asText })
  }
}
