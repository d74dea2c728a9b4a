// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import scala.util.Try

import splice.hybrid.{HandOverRule, HandOverRules}

/** Names the code of a [[HandOverRule]]. */
sealed private[splice] trait RuleOfUser extends Product with Serializable {

  /** The option that names it, and its value. */
  def option: (String, String)

  /** @throws java.lang.Exception when there is no such rule in this process */
  def load(): HandOverRule
}

private[splice] object RuleOfUser {

  /** A class with a constructor without arguments. */
  final case class OfClass(name: String) extends RuleOfUser {
    override def option: (String, String) = HandOverOptions.Class.key -> name
    override def load(): HandOverRule     = find(name).getDeclaredConstructor().newInstance()
    override def toString: String         = s"class $name"

    /** Whether the class exists, is a rule, and can be created. */
    def exists: Boolean = Try(find(name).getConstructor()).isSuccess
  }

  /** A function that the Python package has registered. */
  final case class OfPython(name: String) extends RuleOfUser {
    override def option: (String, String) = HandOverOptions.Python.key -> name
    override def load(): HandOverRule     = HandOverRules.find(name).getOrElse(
      throw new NoSuchElementException("it is not known to this driver. Run the program that builds the source")
    )
    override def toString: String = s"Python function $text"

    /** The name without the part that changes with each process. */
    def text: String = name.take(name.lastIndexOf('-') match {
      case -1  => name.length
      case end => end
    })
  }

  // Jars of a session are known to its own loader.
  private def find(name: String): Class[_ <: HandOverRule] = {
    val own    = classOf[HandOverRule]
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(own.getClassLoader)
    Class.forName(name, false, loader).asSubclass(own)
  }
}
