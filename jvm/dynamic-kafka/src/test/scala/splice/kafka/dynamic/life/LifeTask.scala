// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.kafka.dynamic.life.cluster.LifeRow
import splice.kafka.dynamic.life.planted.TimedFault
import splice.source.SplitRange
import splice.testkit.simulation.TaskRows

/** Reads the ranges of one task. In real-time mode, the clusters change while the task reads. */
final private[life] class LifeTask(world: LifeWorld, ranges: Seq[SplitRange]) extends TaskRows {

  private val ids   = ranges.iterator.flatMap(world.ids)
  private val parts = ranges.collect { case range: DynamicSplitRange => new Part(range) }

  override def next(): Option[Long] = ids.nextOption()

  override def nextNow(): Option[Long] = {
    world.life.move()
    val (ready, others) = parts.filter(part => part.row.nonEmpty && isNext(part)).partition(_.isReadable)
    if (others.nonEmpty) world.life.met("a task reads without a cluster")
    if (ready.isEmpty) None else world.life.chance.oneOf(ready).take()
  }

  /** Returns true if all earlier ranges of the same split are read. */
  private def isNext(part: Part): Boolean =
    parts.takeWhile(_ ne part).forall(other => other.range.splitId != part.range.splitId || other.hasEnded)

  override def unread: Seq[SplitRange] = parts.filterNot(_.hasEnded).map(_.left)

  override def close(): Unit = ()

  final private class Part(val range: DynamicSplitRange) {
    private var at = range.range.from

    def hasEnded: Boolean   = at >= range.range.until
    def isReadable: Boolean = world.isReadable(range.cluster)

    def row: Option[LifeRow] = if (hasEnded) None else world.log(range).flatMap(_.lift(at.toInt))

    def take(): Option[Long] = row.map { found =>
      at += 1
      world.read(found.id)
      found.id
    }

    def left: DynamicSplitRange = TimedFault.from(range, at)
  }
}
