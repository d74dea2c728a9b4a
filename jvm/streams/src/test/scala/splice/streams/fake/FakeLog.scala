// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.fake

import scala.collection.concurrent.TrieMap

/** Rows and calls of a stream of a test. The rows have the ids from 0 to `size`. Thread-safe. */
final class FakeLog(val name: String) {

  private var rows  = 0L
  private var calls = Vector.empty[String]
  private var found = 0

  FakeLog.logs(name) = this

  def size: Long = synchronized(rows)

  def grow(by: Long): Unit = synchronized(rows += by)

  def call(text: String): Unit = synchronized(calls :+= text)

  /** Records that the folder of a new stream has the files of an earlier run. */
  def resumed(): Unit = synchronized(found += 1)

  def resumptions: Int = synchronized(found)

  /** All calls so far, oldest first. */
  def called: Vector[String] = synchronized(calls)

  /** Number of calls that begin with a text. */
  def count(text: String): Int = called.count(_.startsWith(text))

  /** Removes the log, as if its server did not exist. */
  def remove(): Unit = FakeLog.logs -= name
}

object FakeLog {

  private val logs = TrieMap.empty[String, FakeLog]

  def apply(name: String): FakeLog =
    logs.getOrElse(name, throw new IllegalArgumentException(s"the server of $name is not available"))
}
