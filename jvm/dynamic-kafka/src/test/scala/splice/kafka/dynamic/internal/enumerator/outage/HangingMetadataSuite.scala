// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.util.concurrent.CountDownLatch

import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.{DocumentFeed, RemovedTopics}
import splice.source.StartPosition
import splice.source.errors.SpliceException
import splice.testkit.LoggedMessages

/** Tests of a metadata service that does not respond. */
final class HangingMetadataSuite extends RemovedTopics {

  test("a restart continues with the metadata of the checkpoint, and the first start fails after clusterTimeout") {
    val world    = simulated()
    val short    = Seq("metadata.timeout" -> "50ms", "clusterTimeout" -> "50ms")
    val released = new CountDownLatch(1)
    fill(world, east, 2)
    world.hang = Some(released)
    val slow =
      intercept[SpliceException](Using.resource(world.start(changed = short))(_.start(StartPosition.Configured)))
    assert(slow.getCondition == "SPLICE_METADATA_CONNECTION.START_TIMEOUT_EXCEEDED" &&
      slow.getMessage.contains("'clusterTimeout'"))
    world.hang = None
    val first = Using.resource(world.start())(run => readAll(run, run.start(StartPosition.Configured))._1)
    fill(world, east, 3)
    world.hang = Some(released)
    val (_, warned) = LoggedMessages.during(classOf[DocumentFeed].getName) {
      Using.resource(world.start(changed = short)) { run =>
        assert(readAll(run, world.source.position(first.json))._2 == all(east, 5).drop(2))
        released.countDown()
      }
    }
    assert(warned.exists(_.contains("'metadata.timeout'")), warned)
  }
}
