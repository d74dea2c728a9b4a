// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.annotation.tailrec

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.internal.bounds.SkippedRanges.Skip
import splice.source.LogPartition
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** The offsets of a bounded source that no batch reads, because a policy skipped the offsets. A hand-over must not count
  * these offsets as read. No plan depends on the entries.
  *
  * An entry has all offsets so far, so older entries are removed. Thread-safe.
  */
final private[kafka] class UnreadEntries(log: SideLog) {

  private val entries = new NumberedEntries(log, "unread")(UnreadEntries.read)

  // Each of two drivers may have written an entry.
  private var all = entries.numbers.iterator.flatMap(entries.find).foldLeft(SkippedRanges())(_ ++ _)

  /** The stored offsets. */
  def known: SkippedRanges = synchronized(all)

  /** Stores offsets. The entry is durable when the method returns. */
  def add(skips: SkippedRanges): Unit = change(_ ++ skips)

  /** Stores offsets of committed batches, even if they are known: another driver that begins the same batch may have
    * removed the offsets. The entry is durable when the method returns.
    */
  def addCommitted(skips: SkippedRanges): Unit = synchronized(keep(append(_ ++ skips)))

  /** Removes offsets that tasks begin to read, and that an earlier read has skipped. The change is durable when the
    * method returns.
    */
  def begun(read: SkippedRanges): Unit = change(_ -- read)

  private def change(to: SkippedRanges => SkippedRanges): Unit = synchronized {
    if (to(all) != all) keep(append(to))
  }

  private def keep(durable: SkippedRanges): Unit = {
    all = durable
    entries.purge(entries.numbers.init)
  }

  // The next entry may be the entry of another driver.
  @tailrec private def append(to: SkippedRanges => SkippedRanges): SkippedRanges = {
    val wanted  = to(all)
    val durable = entries.append(UnreadEntries.write(wanted))
    if (durable == wanted) wanted
    else {
      all = all ++ durable
      append(to)
    }
  }
}

private object UnreadEntries {

  private def write(ranges: SkippedRanges): Seq[String] = VersionedEntry.write(
    Nil,
    ranges.all.toSeq.sortBy(_._1).map { case ((partition, generation), skips) =>
      Json.write(Json.obj(
        "generation" -> Json.number(generation.toLong),
        "partition"  -> Json.number(partition.partition.toLong),
        "ranges"     -> Json.array(skips.map(skip => Json.array(Seq(skip.from, skip.until).map(Json.number)))),
        "topic"      -> Json.text(partition.topic)
      ))
    }
  )

  private def read(entry: VersionedEntry): SkippedRanges = entry.nodes.foldLeft(SkippedRanges()) { (all, line) =>
    all ++ skips(line).getOrElse(entry.corrupt(s"'$line' does not contain offsets"))
  }

  private def skips(line: JsonNode): Option[SkippedRanges] = for {
    topic      <- Json.field(line, "topic").filter(_.isTextual)
    partition  <- Json.field(line, "partition").filter(_.isInt)
    generation <- Json.field(line, "generation").filter(_.isInt)
    ranges     <- Json.field(line, "ranges").map(Json.items(_).map(Json.items(_).map(_.asLong)))
    if ranges.forall(_.size == 2)
  } yield ranges.foldLeft(SkippedRanges()) { (all, range) =>
    all.including(LogPartition(topic.asText, partition.asInt), generation.asInt, Skip(range.head, range.last))
  }
}
