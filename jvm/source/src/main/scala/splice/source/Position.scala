// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** How far a source has been read: the content of a Spark offset. Immutable.
  *
  * Everything a restart needs is in it or in the side log before it is first returned; it never says "latest".
  */
trait Position extends Serializable {

  /** One line, keys in a fixed order, versioned; equal positions give equal bytes. */
  def json: String

  /** True when `later` is this position or one that the same query reaches after it. Both are of the same source. */
  def precedes(later: Position): Boolean

  /** Equality of [[json]]. An override gives the same result, and is cheaper for positions whose text is long. */
  override def equals(other: Any): Boolean = other match {
    case that: Position => (this eq that) || that.json == json
    case _              => false
  }

  override def hashCode: Int = json.hashCode

  final override def toString: String = json
}
