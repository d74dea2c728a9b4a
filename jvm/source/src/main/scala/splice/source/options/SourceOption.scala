// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

/** An option, declared once: parsing, the reference page and the builders' checks come from here.
  *
  * @param key
  *   its name, without the prefix of a leg
  * @param default
  *   the value when it is not set, and how the reference page writes it
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
