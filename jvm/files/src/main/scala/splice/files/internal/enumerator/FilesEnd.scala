// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.Instant

import splice.source.{Evidence, TimeRange}

/** The end of a list of files. Offsets and event times are in the rows, which readers count. */
final private[files] class FilesEnd(override val position: FilesPosition, list: => FileList) extends Evidence {

  override def modificationTimes: Option[TimeRange] = {
    val times = list.files.map(_.modified)
    Option.when(times.nonEmpty)(TimeRange(Instant.ofEpochMilli(times.min), Instant.ofEpochMilli(times.max)))
  }
}
