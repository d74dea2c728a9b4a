// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** Reading progress of a source: the content of a Spark offset. Immutable.
  *
  * A restart needs only the position and the side log. All data that a restart needs is stored in the position, or in
  * the side log before a method first returns the position. A position contains fixed values, and never a relative
  * value such as "latest".
  */
trait Position extends Serializable {

  /** JSON text of the position on one line, with a version and with keys in a fixed order. Equal positions have equal
    * bytes.
    */
  def json: String

  /** True if `later` is this position, or if the same query reaches `later` after this position. Both positions belong
    * to the same source.
    */
  def precedes(later: Position): Boolean

  /** Compares [[json]]. An override must return the same result, and can avoid the comparison of long texts. */
  override def equals(other: Any): Boolean = other match {
    case that: Position => (this eq that) || that.json == json
    case _              => false
  }

  override def hashCode: Int = json.hashCode

  final override def toString: String = json
}
