// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import scala.collection.concurrent.TrieMap

/** Returns a [[MetadataDocument]] as text. Python implements this trait, so only strings pass between Python and the
  * JVM.
  */
private[splice] trait MetadataCallback {
  def document(): String
}

/** Callbacks of this driver by name. The names are valid in this process only. Any thread may use this object. */
private[splice] object MetadataCallbacks {

  private val known = TrieMap.empty[String, MetadataCallback]

  /** Registers a callback until the process ends, because a query may be started again. */
  def register(name: String, callback: MetadataCallback): Unit = known.update(name, callback)

  private[dynamic] def find(name: String): Option[MetadataCallback] = known.get(name)
}
