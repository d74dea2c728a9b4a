// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

/** Decisions that must survive a crash, beside the offsets of one checkpoint.
  *
  * An entry is a list of lines (each free of line breaks) under a key that names what was decided: `[a-z0-9-]+`. It is
  * written whole, created only if absent, and never changed: whoever asks again, in this run or after a crash, gets the first answer.
  */
trait SideLog {

  /** The entry, if it was ever written.
    *
    * @throws SpliceException
    *   when the entry is damaged or of a newer version
    */
  def get(key: String): Option[Seq[String]]

  /** The entry; `decide` runs only when there is none, and its result is durable when this returns. */
  def getOrCreate(key: String)(decide: => Seq[String]): Seq[String]

  /** Keys that begin with `prefix`, sorted. */
  def keys(prefix: String): Seq[String]

  /** Removes an entry that no offset can need any more. */
  def remove(key: String): Unit

  /** A log of its own for a part of the source, such as a leg. */
  def scope(name: String): SideLog

  /** The same log. Files that it creates grant access to their owner only, if the storage has permissions of files. */
  def ownerOnly: SideLog = this
}
