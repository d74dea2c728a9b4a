// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

/** Declaration of an option, used by parsers, the reference page and the checks of builders.
  *
  * @param key
  *   name of the option, without the prefix of a leg
  * @param doc
  *   description for errors and the reference page
  * @param default
  *   value if the option is not set, and the text of this value on the reference page
  * @param since
  *   version of Splice that introduced the option
  */
final case class SourceOption[A](
    key: String,
    kind: OptionType[A],
    doc: String,
    default: Option[(A, String)] = None,
    since: String = "0.1.0"
) {
  def withDefault(value: A, text: String): SourceOption[A] = copy(default = Some(value -> text))
}
