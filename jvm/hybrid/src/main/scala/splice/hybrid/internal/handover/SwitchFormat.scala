// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.Leg
import splice.source.StartPosition.{Configured, Exact, Offsets, Time}
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog
import splice.source.{LogPartition, OffsetRanges, Position, Source, StartPosition, StoredStart}

/** Side-log format of a switch. The head has the previous leg, the rule, a flag for counted offsets, and the time and
  * kind of the start. The head also has a flag for ends that are committed outside of the checkpoint, the number of
  * partitions with holes, and the delay of a watermark that a log needs. The lines after the head are the end of the
  * previous leg, the start of this leg, and the proof. One line per partition with holes follows ([[FillFormat]]).
  */
private[splice] object SwitchFormat {

  /** Prefix of the entries. */
  val Prefix = "hand-over"

  private val Commits = "commits"

  private val Filled = "filled"

  private val Delay = "delayNeededMs"

  private val Unknown = "unknown"

  def write(
      leg: Leg,
      after: Leg,
      ended: Position,
      decision: HandOverDecision,
      start: Position
  ): Seq[String] = {
    val fill = decision.fill
    VersionedEntry.write(
      Seq(
        "after"  -> Json.text(after.name),
        "at"     -> Json.text(decision.at.toString),
        "counts" -> Json.bool(leg.handOver.exists(_.counts.nonEmpty)),
        "rule"   -> Json.text(HandOver.text(leg.handOver)),
        "start"  -> kind(decision.start)
      ) ++ Option.when(after.source.commits)(Commits -> Json.bool(true)) ++
        Option.when(fill.nonEmpty)(Filled -> Json.number(fill.size.toLong)) ++
        decision.delay.map(delay => Delay -> delay.needed.fold(Json.text(Unknown))(d => Json.number(d.toMillis))),
      (ended.json +: start.json +: decision.proof) ++ FillFormat.write(fill)
    )
  }

  /** Entries of the switches to a leg.
    *
    * @param log
    *   scope of the leg
    */
  def entries(log: SideLog): NumberedEntries[VersionedEntry] = new NumberedEntries(log, Prefix)(identity)

  /** User-visible part of a switch: time, rule, kind of start, needed delay of a watermark, and findings. */
  def summary(entry: VersionedEntry): Seq[(String, JsonNode)] =
    Seq("at", "rule", "start").map(key => key -> entry(key)) ++ entry.find(Delay).map(Delay -> _) :+
      ("found" -> Json.array(entry.nodes.drop(2).dropRight(filled(entry))))

  /** Partitions of the stored switch to a leg that begin with offsets that the history lacks.
    *
    * @param log
    *   scope of the leg
    */
  def fill(log: SideLog): SortedMap[LogPartition, OffsetRanges] =
    entries(log).find(0).fold(SortedMap.empty[LogPartition, OffsetRanges]) { entry =>
      FillFormat.read(entry, entry.lines.takeRight(filled(entry)))
    }

  /** Number of lines with holes. */
  private def filled(entry: VersionedEntry): Int = entry.find(Filled).fold(0)(_ => entry.long(Filled).toInt)

  /** Name of the previous leg. */
  def after(entry: VersionedEntry): String = entry.text("after")

  /** Text of the end of the previous leg, if its source commits positions outside of the checkpoint. */
  def toCommit(entry: VersionedEntry): Option[String] =
    entry.find(Commits).filter(_.asBoolean).flatMap(_ => entry.lines.headOption)

  /** @throws SpliceException if the entry is corrupt */
  def read(entry: VersionedEntry, source: Source[_ <: Position]): Switch = entry.lines match {
    case Seq(ended, start, more @ _*) if filled(entry) <= more.size =>
      val (proof, fill) = more.splitAt(more.size - filled(entry))
      Switch(
        after(entry),
        entry.text("at"),
        entry.text("rule"),
        Some(entry("counts")).filter(_.isBoolean).fold(entry.corrupt("'counts' is not true or false"))(_.asBoolean),
        ended,
        source.position(start),
        proof,
        FillFormat.read(entry, fill),
        entry.find(Delay).filter(_.isIntegralNumber).map(_.asLong)
      )
    case lines => entry.corrupt(s"the entry has ${lines.size + 1} lines instead of ${3 + filled(entry)} or more")
  }

  /** Parsed switch.
    *
    * @param after
    *   name of the previous leg, which may have been removed from the chain
    * @param at
    *   time of the decision
    * @param rule
    *   text of the rule on one line
    * @param counts
    *   true if the rule counts the offsets of previous legs
    * @param ended
    *   text of the end position of the previous leg
    * @param start
    *   start position of the leg
    * @param proof
    *   findings as lines of JSON
    * @param fill
    *   partitions that begin with offsets that the history lacks
    * @param delay
    *   delay of a watermark that the switch needs, in milliseconds
    */
  final case class Switch(
      after: String,
      at: String,
      rule: String,
      counts: Boolean,
      ended: String,
      start: Position,
      proof: Seq[String],
      fill: SortedMap[LogPartition, OffsetRanges],
      delay: Option[Long] = None
  ) {

    /** Start of the leg for its enumerator. */
    def stored: StoredStart = StoredStart(start.json, fill)
  }

  private def kind(start: StartPosition): JsonNode = start match {
    case Configured      => Json.text("configured")
    case Time(millis, _) => Json.obj("timestamp" -> Json.number(millis))
    case Offsets(_)      => Json.text("offsets")
    case Exact(_)        => Json.text("position")
  }
}
