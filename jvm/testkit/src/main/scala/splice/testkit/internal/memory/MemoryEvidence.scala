// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.source.{Evidence, Position, TimeRange}

/** End of an archive. The time of the last record represents the modification time of a file. */
final private[splice] class MemoryEvidence(override val position: Position, log: String, ends: SortedMap[Int, Long])
    extends Evidence {

  override def modificationTimes: Option[TimeRange] = {
    val all = MemoryLog(log)
    all.call("modificationTimes")
    ends.toSeq.flatMap { case (p, end) => all.read(p, all.earliest(p), end) }.map(_.millis) match {
      case Seq()  => None
      case millis => Some(TimeRange(Instant.ofEpochMilli(millis.min), Instant.ofEpochMilli(millis.max)))
    }
  }
}
