// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.lang.{StringBuilder => JStringBuilder}

import scala.annotation.tailrec
import scala.util.Try
import scala.util.matching.Regex

import org.apache.spark.SparkEnv
import org.apache.spark.sql.internal.SQLConf

/** Removes secrets from logs, errors, plans and progress. The Python package hides the same values.
  *
  * The patterns that a user sets as `spark.redaction.regex` or `spark.sql.redaction.options.regex` hide further values.
  * Splice does not apply Spark's defaults of these settings. Spark's default of `spark.sql.redaction.options.regex`
  * hides every address, and an error about an address must show the address.
  */
private[splice] object Secrets {

  private val secretKey =
    ("(?i).*(password|passwd|passphrase|pwd|secret|token|jaas|credential|private|authorization|cookie|access[._-]?key" +
      "|account[._-]?key|api[._-]?key|keystore[._]key|certificate|user[._]info|sas[._]|signature).*").r

  // The options `credentials.<name>.kafka.<property>` are secret only if the property is secret.
  private val credentials = "(?i)(^|\\.)credentials\\..*?\\.kafka\\.".r

  // A header with any name may contain a secret.
  private val headerKey = "(?i)(.*\\.)?metadata\\.header\\..+".r

  private val reference = "\\$\\{[^}:\\s]+:[^}]+\\}".r

  // Possessive quantifiers do not backtrack, so the time is proportional to the length of the text.
  private val parameter = "[?&#;][^=?&#;\\s]*+=".r

  private val signed = "(?i)sig|token|code|key|secret|passw|pwd|credential|auth|session|jwt|x-amz-|x-goog-".r

  private val spaces = " \t\n\u000B\f\r"

  // Each service uses different names for the parts of a signed address, so Splice hides the whole query.
  private val addressKey = "(?i)(.*\\.)?metadata\\.url".r

  val Redacted = "*********(redacted)"

  // A shorter text occurs in many words, and hidden words would reveal the text.
  private val Shortest = 3

  /** True if Splice must not show the value of an option with this name. */
  def isSecret(key: String): Boolean =
    headerKey.matches(key) ||
      secretKey.matches(credentials.replaceFirstIn(key, "")) && !isClassOrPlace(key)

  /** True if the whole text is a reference such as `${file:/run/secrets:password}`, which is not a secret. */
  def isReference(value: String): Boolean = reference.matches(value)

  private val SparkPattern = "spark.redaction.regex"

  // Spark's default of this setting.
  private val SparkDefault = "(?i)secret|password|token|access[.]?key".r

  private def patterns: Seq[Regex] =
    Seq(SparkPattern, "spark.sql.redaction.options.regex").flatMap(setting).distinct.flatMap(text =>
      Try(text.r).toOption
    )

  // Threads without a session have only the settings of the application.
  private def setting(key: String): Option[String] = {
    val session = SQLConf.get
    Option.when(session.contains(key))(session.getConfString(key)).orElse(
      Option(SparkEnv.get).flatMap(_.conf.getOption(key))
    )
  }

  private def isHiddenByUser(key: String, value: String): Boolean =
    patterns.exists(pattern => pattern.findFirstIn(key).isDefined || pattern.findFirstIn(value).isDefined)

  /** Returns the value without secrets and without values that a pattern of the user hides. */
  def redact(key: String, value: String): String =
    if (isHiddenByUser(key, value) && !isReference(value)) Redacted else redactStored(key, value)

  /** Returns the value without secrets. Patterns of the user do not apply, because a checkpoint compares the result
    * with the result of a later run.
    *
    * The method hides the whole value of a secret option, the query of `metadata.url`, and the user and the signature
    * of any address.
    */
  def redactStored(key: String, value: String): String =
    if (isSecret(key)) { if (isReference(value)) value else Redacted }
    else if (addressKey.matches(key)) withoutQuery(redactAddress(value))
    else redactAddress(value)

  /** Returns the names of options with a secret that Spark shows in plans, in the UI and in the event log. */
  def shownBySpark(options: Map[String, String]): Seq[String] = {
    val hidden  = setting(SparkPattern).flatMap(text => Try(text.r).toOption).getOrElse(SparkDefault)
    def isShown = (key: String, value: String) => Seq(key, value).forall(hidden.findFirstIn(_).isEmpty)
    options.collect {
      case (key, value) if redactStored(key, value) != value && !isPublic(key) && isShown(key, value) => key
    }.toSeq.sorted
  }

  /** Returns the text without the given secrets. Secrets of fewer than 3 characters remain. */
  def hide(text: String, secrets: Iterable[String]): String =
    secrets.toSeq.filter(_.length >= Shortest).sortBy(-_.length).foldLeft(text)(_.replace(_, Redacted))

  private def withoutQuery(address: String): String =
    address.indexWhere(c => c == '?' || c == '#') match {
      case -1    => address
      case start => s"${address.take(start)}?$Redacted"
    }

  private def redactAddress(value: String): String =
    if (!value.contains(":/")) value else withoutSignature(withoutUsers(value))

  // In addresses with other schemes than HTTP, the text before '@' may be a container of a storage account.
  private def withoutUsers(value: String): String = {
    def isHttp(colon: Int) = Seq("http", "https").exists(name =>
      value.regionMatches(true, colon - name.length, name, 0, name.length)
    )
    @tailrec def copy(from: Int, out: JStringBuilder): String = value.indexOf("://", from) match {
      case -1    => out.append(value, from, value.length).toString
      case colon =>
        val start     = colon + "://".length
        val authority = value.substring(start, end(value, start, s"/?#$spaces"))
        val user      = authority.lastIndexOf('@')
        val isHidden  = user > 0 && (isHttp(colon) || authority.take(user).contains(':'))
        out.append(value, from, start)
        if (isHidden) copy(start + user, out.append(Redacted)) else copy(start, out)
    }
    copy(0, new JStringBuilder)
  }

  /** The index of the first of some characters, or the end of the text. */
  private def end(text: String, from: Int, ends: String): Int =
    Some(text.indexWhere(char => ends.contains(char), from)).filter(_ >= 0).getOrElse(text.length)

  private def withoutSignature(address: String): String = {
    val names                                                 = parameter.pattern.matcher(address)
    @tailrec def copy(from: Int, out: JStringBuilder): String =
      if (!names.find(from)) out.append(address, from, address.length).toString
      else {
        out.append(address, from, names.end)
        if (signed.findFirstIn(names.group).isEmpty) copy(names.end, out)
        else {
          val last = end(address, names.end, s"&#;$spaces")
          copy(last, if (last > names.end) out.append(Redacted) else out)
        }
      }
    copy(0, new JStringBuilder)
  }

  private def isPublic(key: String): Boolean = key.endsWith(".certificates") || key.endsWith(".certificate.chain")

  // Values such as `ssl.keystore.location` and `sasl.oauthbearer.token.endpoint.url` are not secret, and help the
  // reader of an error.
  private def isClassOrPlace(key: String): Boolean =
    Seq(".class", ".location", ".url", ".type").exists(key.toLowerCase(java.util.Locale.ROOT).endsWith)
}
