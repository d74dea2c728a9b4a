// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.time.Instant

import splice.files.internal.split.{FileSchemas, ListedFile}

/** Lists a watched folder. One thread at a time uses a lister. Tests replace the lister by a simulated folder. */
private[splice] trait FolderLister {

  /** Lists the folder.
    *
    * @param known
    *   files that are not new
    * @param limit
    *   time in milliseconds before which a file is not new, because known files before this time were forgotten
    * @param isFull
    *   true if the listing must have all folders, regardless of `partitionOrder`
    */
  def list(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing

  /** True if each path has a file of this name. */
  def exists(name: String): Boolean

  /** Last batch of the only sink of Spark whose files the listings have, if they have all these files. Needs `endWhen`. */
  def batch: Option[Long]

  /** Number of responses of the storage so far; None if no request for the files of a folder waits for a response. Any
    * thread may call this method.
    */
  def waiting: Option[Long]

  /** Columns of the files, after a listing has found a file, or if a list of an earlier run has them. */
  def schemas: Option[FileSchemas]
}

/** Result of one listing.
  *
  * @param files
  *   new files, in the order of reading
  * @param listed
  *   number of files that the options select
  * @param old
  *   number of these files that were modified before the limit
  * @param young
  *   number of files that are younger than `minFileAge`
  * @param newest
  *   greatest modification time of the selected files in milliseconds; None without a file
  * @param changed
  *   files with another time or length than the known files
  * @param youngBytes
  *   bytes of these files
  * @param ahead
  *   number and example of young files that are later than the clock of the driver
  * @param ignored
  *   number and example of files that are in no folder that the options select
  */
final private[splice] case class FolderListing(
    files: IndexedSeq[ListedFile],
    listed: Long,
    old: Long = 0,
    young: Long = 0,
    youngBytes: Long = 0,
    newest: Option[Long] = None,
    changed: Seq[FolderListing.ChangedFile] = Nil,
    ahead: Option[(Int, String)] = None,
    ignored: Option[(Int, String)] = None
) {
  lazy val bytes: Long = files.iterator.map(_.size).sum
}

private[splice] object FolderListing {

  /** File that had another time or length when it was read. */
  final case class ChangedFile(path: String, modified: Long, length: Long, before: KnownFiles.Changed) {
    def seen: SeenFile = SeenFile(path, modified, length)

    def previous: String = text(before.length, before.modified)

    def current: String = text(length, modified)

    private def text(length: Long, modified: Long) = s"$length bytes, modified at ${Instant.ofEpochMilli(modified)}"
  }
}
