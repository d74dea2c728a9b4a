// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

/** A moment in the life of a query at which it may be killed.
  *
  * @param when
  *   `before` or `after` what happens
  * @param kind
  *   what happens: `create` and `rename` of a file, a `row` that passes
  * @param name
  *   the file's path (of a rename the new one), the row's id
  */
final private[splice] case class Step(when: String, kind: String, name: String) {
  override def toString: String = s"$when $kind $name"
}
