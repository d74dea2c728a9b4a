// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.KafkaErrors
import splice.kafka.options.{KafkaOptions, StartingOffsets}

/** What a batch does not read, as Spark's own source does not: nothing at all, or backwards. */
private[splice] object BatchBounds {

  /** @throws splice.source.SpliceOptionException when it begins where it ends */
  def refuse(start: StartingOffsets): Unit = {
    val latest = start match {
      case StartingOffsets.Latest         => true
      case StartingOffsets.Exact(offsets) => offsets.valuesIterator.contains(StartResolver.AtLatest)
      case _                              => false
    }
    if (latest)
      throw KafkaErrors.refusedOption(
        s"${KafkaOptions.Starting.key} = latest",
        "a batch ends at the latest offsets, so it would read nothing. Begin at earliest, at offsets or at a time, or read as a stream"
      )
  }

  /** @throws splice.source.SpliceOptionException when it begins behind its end */
  def refuse(entry: EndingLog.Entry): Unit = {
    val behind = entry.start.offsets.toSeq.collect {
      case (p, start) if entry.end.get(p).exists(_ < start) => (p, start, entry.end.get(p).getOrElse(start))
    }
    if (behind.nonEmpty) throw KafkaErrors.startAfterEnd(behind)
  }
}
