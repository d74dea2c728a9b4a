// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import splice.source.SideLog

/** A side log for several threads: the query's, and the worker's of a cluster whose entries are in the same scope, since a source of
  * one cluster began the checkpoint. Its scopes are of one thread each.
  */
final private[dynamic] class SharedSideLog(log: SideLog) extends SideLog {

  override def get(key: String): Option[Seq[String]] = synchronized(log.get(key))

  // A decision may wait for a server, so it is made without the lock.
  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
    val decided = decide
    synchronized(log.getOrCreate(key)(decided))
  }

  override def keys(prefix: String): Seq[String] = synchronized(log.keys(prefix))

  override def remove(key: String): Unit = synchronized(log.remove(key))

  override def scope(name: String): SideLog = log.scope(name)
}
