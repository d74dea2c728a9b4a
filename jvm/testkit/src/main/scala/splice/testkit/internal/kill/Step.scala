// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

/** Step of a query at which its run may be killed.
  *
  * @param when
  *   `before` or `after` the event
  * @param kind
  *   kind of event: `create` or `rename` of a file, or a processed `row`
  * @param name
  *   path of the file (of a rename the new path), or id of the row
  */
final private[splice] case class Step(when: String, kind: String, name: String) {
  override def toString: String = s"$when $kind $name"
}
