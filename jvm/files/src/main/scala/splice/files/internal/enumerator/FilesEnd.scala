// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.Instant

import splice.source.{Evidence, TimeRange}

/** End of a list of files. Readers count offsets and event times, because only rows have offsets and event times. */
final private[files] class FilesEnd(override val position: FilesPosition, list: => FileList) extends Evidence {

  override def modificationTimes: Option[TimeRange] = {
    val times = list.files.map(_.modified)
    Option.when(times.nonEmpty)(TimeRange(Instant.ofEpochMilli(times.min), Instant.ofEpochMilli(times.max)))
  }
}
