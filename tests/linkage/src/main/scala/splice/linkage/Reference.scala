// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

/** What one class asks of another at run time. */
sealed trait Reference {

  /** The internal name of the class that is asked. */
  def owner: String
}

object Reference {
  final case class OfType(owner: String) extends Reference

  final case class OfField(owner: String, name: String, descriptor: String, static: Boolean) extends Reference

  /** @param onInterface
    *   whether the call was compiled as one to an interface, which the JVM checks
    */
  final case class OfMethod(owner: String, name: String, descriptor: String, static: Boolean, onInterface: Boolean)
      extends Reference

  /** A lambda that stands for an interface, whose only abstract method must be this one. */
  final case class OfLambda(owner: String, name: String, descriptor: String) extends Reference
}
