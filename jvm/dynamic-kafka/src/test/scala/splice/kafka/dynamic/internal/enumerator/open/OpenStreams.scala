// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.open

import java.time.Duration

import splice.kafka.dynamic.internal.enumerator.{SimulatedClusters, StoppedStreams}
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.source.StartPosition
import splice.source.runtime.OpenEnded
import splice.testkit.internal.Patient

/** Helpers for open-ended batches over two simulated clusters. */
trait OpenStreams extends StoppedStreams with Patient {

  protected def timed(run: Run): OpenEnded[DynamicOffset] = run match {
    case open: OpenEnded[DynamicOffset @unchecked] => open
    case other                                     => fail(s"$other does not support open ranges")
  }

  protected def settle(run: Run, from: DynamicOffset): DynamicOffset = timed(run).settle(from)

  /** Ranges of a batch: cluster, partition, start and end. The end of an open range is -1. */
  protected def planned(run: Run, settled: DynamicOffset): Set[(String, Int, Long, Long)] =
    timed(run).open(settled).collect { case r: DynamicSplitRange =>
      (r.cluster, r.range.partition.partition, r.range.from, if (r.isOpen) -1L else r.range.until)
    }.toSet

  /** End of a batch that has read partition 0 of some clusters up to these offsets. */
  protected def reach(run: Run, settled: DynamicOffset)(offsets: (String, Long)*): DynamicOffset =
    timed(run).reached(
      settled,
      timed(run).open(settled).collect { case r: DynamicSplitRange =>
        offsets.toMap.get(r.cluster).filter(_ => r.range.partition.partition == 0).map(at =>
          r.copy(range = r.range.copy(from = at)(r.range.topicId, r.range.generation))
        )
      }.flatten
    )

  protected def isStale(run: Run): Boolean = timed(run).isStale

  protected def both(options: (String, String)*): SimulatedClusters = {
    val world = simulated(options: _*)
    world.publish(stream(east, west))
    world
  }

  /** Starts the source and runs the first batch, which reads no rows. */
  protected def begun(world: SimulatedClusters, run: Run): DynamicOffset =
    settle(run, world.begin(StartPosition.Configured, run))

  protected def leave(world: SimulatedClusters, cluster: String): Unit = world.logs(cluster).away = Some(_ => true)
  protected def back(world: SimulatedClusters, cluster: String): Unit  = world.logs(cluster).away = None

  /** Runs batches without rows until the ranges equal the given ranges. */
  protected def until(world: SimulatedClusters, run: Run, from: DynamicOffset)(ranges: (String, Int, Long, Long)*) = {
    var at = from
    eventually {
      // A request that failed is repeated after a pause.
      world.clock.pass(Duration.ofSeconds(11))
      at = settle(run, at)
      assert(planned(run, at) == ranges.toSet)
    }
    at
  }
}
