// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

/** Reference from one class to another class at run time. */
sealed trait Reference {

  /** Internal name of the referenced class. */
  def owner: String
}

object Reference {
  final case class OfType(owner: String) extends Reference

  final case class OfField(owner: String, name: String, descriptor: String, static: Boolean) extends Reference

  /** @param onInterface
    *   true if the call was compiled as a call to an interface, which the JVM checks
    */
  final case class OfMethod(owner: String, name: String, descriptor: String, static: Boolean, onInterface: Boolean)
      extends Reference

  /** Lambda that implements an interface. This method must be the only abstract method of the interface. */
  final case class OfLambda(owner: String, name: String, descriptor: String) extends Reference
}
