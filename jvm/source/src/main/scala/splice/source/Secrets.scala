// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** Keeps secrets out of logs, errors, plans and progress. */
object Secrets {

  private val secretKey =
    "(?i).*(password|passwd|secret|token|jaas|credential|private|access\\.key|keystore\\.key|certificate).*".r

  private val reference = "\\$\\{[^}]+\\}".r

  val Redacted = "*********(redacted)"

  /** Whether the value of an option of this name must not be shown. */
  def isSecret(key: String): Boolean = secretKey.matches(key)

  /** The value as it may be shown: a reference such as `${file:secret}` is no secret itself. */
  def redact(key: String, value: String): String =
    if (isSecret(key) && !reference.matches(value)) Redacted else value
}
