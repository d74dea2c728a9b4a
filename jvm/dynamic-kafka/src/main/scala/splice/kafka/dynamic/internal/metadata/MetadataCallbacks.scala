// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import scala.collection.concurrent.TrieMap

/** Gives a [[MetadataDocument]] as text; implemented in Python, so only strings cross. */
private[splice] trait MetadataCallback {
  def document(): String
}

/** The callbacks of this driver, by names that hold in this process only. Used by any thread. */
private[splice] object MetadataCallbacks {

  private val known = TrieMap.empty[String, MetadataCallback]

  /** Makes a callback known, for as long as the process lives: a query may be started again. */
  def register(name: String, callback: MetadataCallback): Unit = known.update(name, callback)

  private[dynamic] def find(name: String): Option[MetadataCallback] = known.get(name)
}
