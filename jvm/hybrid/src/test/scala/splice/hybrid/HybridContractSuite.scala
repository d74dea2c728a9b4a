// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.util.concurrent.atomic.AtomicLong

import splice.source.{Position, Source}
import splice.testkit.SourceContract

/** Contract tests with a chain whose first batch is in the history. */
final class HybridContractSuite extends SourceContract with LocalSpark {

  override protected def world(): World = new World {
    private val ids  = new AtomicLong
    private val live = Legs.log()
    grow()
    private val history = Legs.archiveOf(live, Map(0 -> 2, 1 -> 1))
    private val options = Legs.options(
      Legs.history(history, "select" -> "id, topic, offset AS at"),
      Legs.live(live, "handOver"     -> "offsets", "select" -> "id, upper(topic) AS topic, offset AS at")
    )

    override def source(): Source[_ <: Position] = Legs.source(options)
    override def grow(): Unit                    = (0 until 6).foreach(i => live.append(i % 2, ids.getAndIncrement()))
  }
}
