// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.select

/** A SELECT list as text. */
private[splice] object SelectText {

  private val part = "(?s)('(?:\\\\.|[^'\\\\])*'|\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`)|\\s+".r

  /** The same list however it was laid out: white space outside of quotes becomes one blank. */
  def normal(text: String): String =
    part.replaceAllIn(
      text.trim,
      m => Option(m.group(1)).fold(" ")(quoted => scala.util.matching.Regex.quoteReplacement(quoted))
    )
}
