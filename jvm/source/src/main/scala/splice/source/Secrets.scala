// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.util.matching.Regex

/** Keeps secrets out of logs, errors, plans and progress. The Python package hides the same values. */
object Secrets {

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

  /** The value without its secrets: all of it if the option's name is one of a secret, the query of `metadata.url`, else user and
    * signature of an address.
    */
  def redact(key: String, value: String): String =
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
