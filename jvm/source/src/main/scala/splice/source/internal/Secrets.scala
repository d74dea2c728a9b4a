// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import scala.util.Try
import scala.util.matching.Regex

import org.apache.spark.SparkEnv
import org.apache.spark.sql.internal.SQLConf

/** Keeps secrets out of logs, errors, plans and progress. The Python package hides the same values.
  *
  * The patterns that a user sets as `spark.redaction.regex` or `spark.sql.redaction.options.regex` hide further values. Their
  * defaults are not applied: the second one hides every address, and an error about an address must show it.
  */
private[splice] object Secrets {

  private val secretKey =
    ("(?i).*(password|passwd|passphrase|pwd|secret|token|jaas|credential|private|authorization|cookie|access[._-]?key" +
      "|account[._-]?key|api[._-]?key|keystore[._]key|certificate|user[._]info|sas[._]|signature).*").r

  // A header may carry a secret under any name.
  private val headerKey = "(?i)(.*\\.)?metadata\\.header\\..+".r

  private val reference = "\\$\\{[^}:\\s]+:[^}]+\\}".r

  // In other schemes the text before '@' may be a container of a storage account.
  private val httpUser = "(?i)(https?://)[^/?#\\s]+@".r

  private val userInfo = "(://)[^/?#\\s]*:[^/?#\\s]*@".r

  private val signedQuery =
    ("(?i)([?&#;][^=?&#;\\s]*(?:sig|token|code|key|secret|passw|pwd|credential|auth|session|jwt|x-amz-|x-goog-)" +
      "[^=?&#;\\s]*=)[^&#;\\s]+").r

  // Each service has names of its own for the parts of a signed address.
  private val addressKey = "(?i)(.*\\.)?metadata\\.url".r

  val Redacted = "*********(redacted)"

  // So short a text is in every other word, and hiding it would show where it was.
  private val Shortest = 3

  /** Whether the value of an option of this name must not be shown. */
  def isSecret(key: String): Boolean =
    headerKey.matches(key) || secretKey.matches(key) && !isClassOrPlace(key)

  /** Whether the whole text is a reference such as `${file:/run/secrets:password}`, which is no secret. */
  def isReference(value: String): Boolean = reference.matches(value)

  private val patternKeys = Seq("spark.redaction.regex", "spark.sql.redaction.options.regex")

  // Threads without a session have the settings of the application only.
  private def patterns: Seq[Regex] = {
    val application      = Option(SparkEnv.get).map(_.conf)
    val session          = SQLConf.get
    def set(key: String) = Option.when(session.contains(key))(session.getConfString(key))
    patternKeys.flatMap(key => set(key).orElse(application.flatMap(_.getOption(key))))
      .distinct.flatMap(text => Try(text.r).toOption)
  }

  private def isHiddenByUser(key: String, value: String): Boolean =
    patterns.exists(pattern => pattern.findFirstIn(key).isDefined || pattern.findFirstIn(value).isDefined)

  /** The value without its secrets and without values that a pattern of the user hides. */
  def redact(key: String, value: String): String =
    if (isHiddenByUser(key, value) && !isReference(value)) Redacted else redactStored(key, value)

  /** The value without its secrets, independent of patterns of the user: a checkpoint compares it with the one of a later run.
    * The value of a secret option is hidden as a whole, and so are the query of `metadata.url` and user and signature of other
    * addresses.
    */
  def redactStored(key: String, value: String): String =
    if (isSecret(key)) { if (isReference(value)) value else Redacted }
    else if (addressKey.matches(key)) withoutQuery(redactAddress(value))
    else redactAddress(value)

  /** A text without secrets that are known. */
  def hide(text: String, secrets: Iterable[String]): String =
    secrets.toSeq.filter(_.length >= Shortest).sortBy(-_.length).foldLeft(text)(_.replace(_, Redacted))

  private def withoutQuery(address: String): String =
    address.indexWhere(c => c == '?' || c == '#') match {
      case -1    => address
      case start => s"${address.take(start)}?$Redacted"
    }

  private def redactAddress(value: String): String =
    if (!value.contains(":/")) value
    else {
      val hidden = Regex.quoteReplacement(Redacted)
      val user   = Seq(httpUser, userInfo).foldLeft(value)((text, user) => user.replaceAllIn(text, s"$$1$hidden@"))
      signedQuery.replaceAllIn(user, s"$$1$hidden")
    }

  // `ssl.keystore.location` and `sasl.oauthbearer.token.endpoint.url` are of use to who reads an error, and no secret.
  private def isClassOrPlace(key: String): Boolean =
    Seq(".class", ".location", ".url", ".type").exists(key.toLowerCase(java.util.Locale.ROOT).endsWith)
}
