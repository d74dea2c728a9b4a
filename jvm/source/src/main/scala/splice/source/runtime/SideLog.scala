// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import org.apache.hadoop.fs.Path

/** Decisions that must survive a crash, stored next to the offsets of one checkpoint.
  *
  * An entry is a list of lines (each without line breaks) with a key that names the decision: `[a-z0-9-]+`. Splice
  * writes an entry as a whole, creates the entry only if the entry does not exist, and never changes the entry. Later
  * calls, in this run or after a crash, return the first decision.
  */
trait SideLog {

  /** Returns an entry, or None if the entry does not exist.
    *
    * @throws SpliceException
    *   if the entry is damaged, or if a newer version of Splice wrote the entry
    */
  def get(key: String): Option[Seq[String]]

  /** Returns an entry. If the entry does not exist, calls `decide` and stores its result. The entry is durable when
    * this method returns.
    */
  def getOrCreate(key: String)(decide: => Seq[String]): Seq[String]

  /** Returns the keys that begin with `prefix`, sorted. */
  def keys(prefix: String): Seq[String]

  /** Removes an entry that no offset needs any longer. */
  def remove(key: String): Unit

  /** Returns a separate side log for a part of the source, such as a leg. */
  def scope(name: String): SideLog

  /** Returns a folder of the checkpoint for files of other software, such as the state of a Spark stream. The folder may
    * not exist yet. Splice reads and writes no file of the folder, and a source may delete the folder before it begins.
    * A side log without a checkpoint returns a temporary folder, which is deleted when the JVM ends.
    *
    * @param name
    *   `[a-z0-9]+`, different from all names of [[scope]]
    */
  def folder(name: String): Path
}

private[splice] object SideLog {

  /** Name of the folder with the files of a Spark stream. The folder has no entries. */
  val SparkFolder = "spark"
}
