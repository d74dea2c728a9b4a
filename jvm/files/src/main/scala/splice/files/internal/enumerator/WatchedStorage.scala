// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.{Duration, Instant}

import splice.files.internal.settings.WatchSettings
import splice.files.internal.split.{FileSchemas, ListedFile}
import splice.files.internal.watch.{FolderLister, WatchPolicies}
import splice.source.EnumeratorContext
import splice.source.errors.SpliceException
import splice.source.internal.polling.{BackgroundPoller, Poller}

/** Storage of a watched folder. Tests replace it by a simulated folder. */
private[splice] trait WatchedStorage {

  def watch: WatchSettings

  def policies: WatchPolicies

  /** Number of known files up to which no file is forgotten. */
  def mostKnown: Int

  /** Greatest number of files of a segment. */
  def mostFiles: Int = 10000

  /** Lister for one run.
    *
    * @param stored
    *   columns of the list; None if no file is in the list
    */
  def lister(stored: Option[FileSchemas]): FolderLister

  /** Segment with the next files of a list.
    *
    * @param last
    *   segment whose columns and settings the new segment has; None for the first segment
    */
  def segment(
      files: IndexedSeq[ListedFile],
      last: Option[FileList],
      lister: FolderLister,
      context: EnumeratorContext
  ): FileList

  /** Applies `onEmpty` to the first listing.
    *
    * @throws SpliceException
    *   if the folder must have a file
    */
  def rejectEmpty(context: EnumeratorContext): Unit

  /** Error for listings that have failed since a time. */
  def failed(since: Instant, error: Throwable): SpliceException

  /** Calls `list` periodically on another thread. */
  def poller(name: String, pause: => Duration, context: EnumeratorContext)(list: => Unit): Poller =
    new BackgroundPoller(name, pause, context.steady, "The listing of a watched folder failed")(list)
}
