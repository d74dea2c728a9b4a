// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import scala.collection.concurrent.TrieMap

import splice.hybrid.HandOverRule

/** Registry of rules that are functions of the driver process. Names are valid in this process only. Thread-safe. */
private[splice] object HandOverRules {

  private val known = TrieMap.empty[String, HandOverRule]

  /** Registers a rule for the lifetime of the process, because a query may be restarted. */
  def register(name: String, rule: HandOverRule): Unit = known.update(name, rule)

  private[hybrid] def find(name: String): Option[HandOverRule] = known.get(name)
}
