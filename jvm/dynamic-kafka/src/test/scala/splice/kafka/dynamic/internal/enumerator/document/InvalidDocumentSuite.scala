// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.document

import java.time.Duration

import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, WaitingGroups}
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{SplitEnumerator, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of a metadata service that returns invalid documents. */
final class InvalidDocumentSuite extends RemovedTopics {

  private type Run = SplitEnumerator[DynamicOffset]

  // Each poll creates the error again.
  private def invalid(line: Int = 3): SpliceException =
    MetadataErrors.invalid("streams.yaml", line, "clusters.west", "'bootstrapServers' is missing")

  private def counts(run: Run, at: DynamicOffset): Seq[String] =
    Seq(ProgressMetric.MetadataRejections, ProgressMetric.MetadataFailures).map(run.figures(at))

  private def rejected(run: Run, at: DynamicOffset): String =
    run.figures(at).getOrElse(ProgressMetric.WaitingGroups, "")

  private def warnings(body: => Unit): Seq[String] = LoggedMessages.during(classOf[WaitingGroups].getName)(body)._2

  private val reason = """[{"streams":[],"rejected":"[SPLICE_METADATA.INVALID_DOCUMENT] """

  test("an invalid document does not end the query, remains in the progress, and causes one warning per interval") {
    val world = simulated("metadata.failureTimeout" -> "1h")
    fill(world, east, 2)
    Using.resource(world.start()) { run =>
      var at = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 2))._1
      assert(counts(run, at) == Seq("0", "0") && rejected(run, at).isEmpty)
      world.invalid = Some(invalid())
      world.awaitRefresh()
      val once = warnings(Seq(1, 2).foreach { _ =>
        at = advance(run, at)
        world.invalid = Some(invalid())
        world.awaitRefresh()
      })
      assert(once.size == 1 && once.head.contains("streams.yaml, line 3: 'clusters.west' is invalid"), once)
      for (rows <- 3 to 5) {
        world.clock.pass(Duration.ofHours(1))
        world.awaitRefresh()
        fill(world, east, 1)
        val again = warnings { at = readUntil(world, run, at)(reads(east, 0, rows.toLong))._1 }
        assert(again.nonEmpty && counts(run, at) == Seq("1", "0"), again)
        assert(rejected(run, at).startsWith(reason), rejected(run, at))
      }
      world.invalid = Some(invalid(line = 4))
      world.awaitRefresh()
      at = advance(run, at)
      assert(counts(run, at) == Seq("2", "0") && rejected(run, at).contains("line 4"))
      world.invalid = None
      fill(world, west, 3)
      publish(world, stream(east, west))
      at = readUntil(world, run, at)(reads(west, 0, 3))._1
      assert(counts(run, at) == Seq("2", "0") && rejected(run, at).isEmpty)
    }
  }

  test("the first start fails with the error of the document, and a restart continues with the previous metadata") {
    val world = simulated()
    fill(world, east, 2)
    world.invalid = Some(invalid())
    val error = intercept[SpliceException](Using.resource(world.start())(_.start(StartPosition.Configured)))
    assert(error.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT")
    world.invalid = None
    val first = Using.resource(world.start())(run => readAll(run, run.start(StartPosition.Configured))._1)
    fill(world, east, 3)
    world.invalid = Some(invalid())
    Using.resource(world.start()) { run =>
      val (at, read) = readAll(run, world.source.position(first.json))
      assert(read == all(east, 5).drop(2) && counts(run, at) == Seq("1", "0") && rejected(run, at).startsWith(reason))
    }
  }
}
