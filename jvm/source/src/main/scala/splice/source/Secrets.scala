// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** Keeps secrets out of logs, errors, plans and progress. */
object Secrets {

  private val secretKey =
    ("(?i).*(password|passwd|secret|token|jaas|credential|private|access[._]?key|account[._]?key" +
      "|api[._]?key|keystore[._]key|certificate|user[._]info|sas[._]|signature).*").r

  private val reference = "\\$\\{[^}]+\\}".r

  private val userInfo = "(?<=://)[^/@\\s]*:[^/@\\s]*(?=@)".r

  val Redacted = "*********(redacted)"

  // So short a text is in every other word, and hiding it would show where it was.
  private val Shortest = 3

  /** Whether the value of an option of this name must not be shown. */
  def isSecret(key: String): Boolean = secretKey.matches(key) && !isClassOrPlace(key)

  /** Whether a text is a reference such as `${file:/run/secrets:password}` and nothing else, so no secret itself. */
  def isReference(value: String): Boolean = reference.matches(value)

  /** The value as it may be shown: without what is secret by the option's name, or stands before the host of an address. */
  def redact(key: String, value: String): String =
    if (isSecret(key) && !isReference(value)) Redacted
    else userInfo.replaceAllIn(value, scala.util.matching.Regex.quoteReplacement(Redacted))

  /** A text without secrets that are known. */
  def hide(text: String, secrets: Iterable[String]): String =
    secrets.toSeq.filter(_.length >= Shortest).sortBy(-_.length).foldLeft(text)(_.replace(_, Redacted))

  // `ssl.keystore.location` and `sasl.oauthbearer.token.endpoint.url` are of use to who reads an error, and no secret.
  private def isClassOrPlace(key: String): Boolean =
    Seq(".class", ".location", ".url", ".type").exists(key.toLowerCase(java.util.Locale.ROOT).endsWith)
}
