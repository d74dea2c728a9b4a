// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import scala.collection.concurrent.TrieMap
import scala.util.Try

import splice.hybrid.HandOverRule

/** Reference to the code of a [[HandOverRule]]. */
sealed private[splice] trait RuleOfUser extends Product with Serializable {

  /** Option that refers to the rule, with its value. */
  def option: (String, String)

  /** @throws java.lang.Exception if this process has no such rule */
  def load(): HandOverRule
}

private[splice] object RuleOfUser {

  /** Class with a constructor without arguments. */
  final case class OfClass(name: String) extends RuleOfUser {
    override def option: (String, String) = HandOverOptions.Class.key -> name
    override def load(): HandOverRule     = find(name).getDeclaredConstructor().newInstance()
    override def toString: String         = s"class $name"

    /** True if the class exists, implements [[HandOverRule]] and has a public constructor without arguments. */
    def exists: Boolean = Try(find(name).getConstructor()).isSuccess
  }

  /** Function that the Python package has registered. */
  final case class OfPython(name: String) extends RuleOfUser {
    override def option: (String, String) = HandOverOptions.Python.key -> name
    override def load(): HandOverRule     = HandOverRules.find(name).getOrElse(
      throw new NoSuchElementException("this driver has no such function. Run the program that builds the source")
    )
    override def toString: String = s"Python function $text"

    /** Name without the suffix that is specific to the process. */
    def text: String = name.take(name.lastIndexOf('-') match {
      case -1  => name.length
      case end => end
    })
  }

  // Only the class loader of the session has the jars of the session.
  private def find(name: String): Class[_ <: HandOverRule] = {
    val base   = classOf[HandOverRule]
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(base.getClassLoader)
    Class.forName(name, false, loader).asSubclass(base)
  }
}

/** Registry of rules that are functions of the driver process. Names are valid in this process only. Thread-safe. */
private[splice] object HandOverRules {

  private val known = TrieMap.empty[String, HandOverRule]

  /** Registers a rule for the lifetime of the process, because a query may be restarted. */
  def register(name: String, rule: HandOverRule): Unit = known.update(name, rule)

  private[hybrid] def find(name: String): Option[HandOverRule] = known.get(name)
}
