// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Duration

import scala.collection.immutable.SortedSet

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.bounds.EndOffsets
import splice.kafka.internal.cluster.{OutageTolerance, Recheck, UnavailablePartitions}
import splice.kafka.internal.enumerator.SimulatedRun.{at, t}
import splice.kafka.internal.errors.DataLoss
import splice.kafka.internal.identity.Recreation
import splice.kafka.internal.options.Subscription
import splice.kafka.internal.split.KafkaPosition
import splice.source.{Limits, LogPartition, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of the number and the text of warnings of an enumerator. */
final class EnumeratorWarningsSuite extends AnyFunSuite {

  private def world(options: (String, String)*): SimulatedRun = {
    val run = new SimulatedRun(("startingOffsets" -> "earliest") +: options: _*)
    run.log.create("t", 1)
    run.log.fill("t", 0, 10)
    run
  }

  private def warned(name: String)(body: => Any): Seq[String] = LoggedMessages.during(name)(body)._2

  private def lost(body: => Any): Seq[String] = warned("splice.kafka.internal.errors.DataLoss")(body)

  test("each outage logs one warning, and one message at its end") {
    val run  = world("clusterTimeout" -> "1m")
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    (1 to 2).foreach { _ =>
      val messages = warned(classOf[OutageTolerance].getName) {
        run.log.away = Some(_ => true)
        (1 to 5).foreach(_ => assert(e.advance(from, Limits.Everything) eq from))
        run.log.away = None
        (1 to 2).foreach(_ => e.advance(from, Limits.Everything))
      }
      assert(messages.size == 2 && messages.head.contains("up to 60 s"), messages)
      assert(messages.last.contains("respond again"), messages)
    }
  }

  test("brokers without a cluster id produce one warning per run with their addresses") {
    val run = world()
    run.log.clusterId = None
    val messages = warned(classOf[Recreation].getName) {
      val e     = run.start()
      val begin = e.start(StartPosition.Configured)
      (1 to 3).foreach { _ =>
        run.later()
        e.advance(begin, Limits.Everything)
      }
    }
    assert(messages.size == 1 && messages.head.contains("simulated:9092") && messages.head.contains("no cluster id"))
  }

  test("the warning for removed records has all skipped ranges and is not repeated") {
    Seq(
      "earliest"        -> (("t-0 [4, 8)", "reading continues at the earliest record")),
      "latest"          -> (("t-0 [4, 20)", "reading continues at the end")),
      "timestamp:15000" -> (("t-0 [4, 15)", "reading continues at 1970-01-01T00:00:15Z")),
      // No record has this time or a later time.
      "timestamp:30000" -> (("t-0 [4, 20)", "reading continues at 1970-01-01T00:00:30Z"))
    ).foreach { case (policy, (range, what)) =>
      val run = new SimulatedRun("startingOffsets" -> "earliest", "onOutOfRange" -> policy)
      run.log.create("t", 1)
      run.log.write("t", 0, (0 until 20).map(_ * 1000L): _*)
      run.log.expire("t", 0, 8)
      val messages = lost {
        val e = run.start()
        (1 to 3).foreach(_ => e.advance(at(0 -> 4), Limits.Everything))
        run.start().advance(at(0 -> 4), Limits.Everything)
      }
      assert(messages.size == 1 && messages.head.contains(range) && messages.head.contains(what), (policy, messages))
    }
  }

  private val mirror = (0 to 1).map(LogPartition("mirror", _))

  private def waiting(loss: DataLoss, isCommitted: Boolean): (SimulatedLog, EndOffsets) = {
    val log = new SimulatedLog(Subscription.Topics(SortedSet("mirror")))
    log.create("mirror", 2)
    (log, new EndOffsets(log, new Recheck(1, Duration.ZERO, _ => ()), loss, isCommitted))
  }

  test("a wait for a log produces one warning per partition, and a repeated wait produces another warning") {
    val (log, watch)                             = waiting(DataLoss.Fail, isCommitted = false)
    def look(starts: KafkaPosition): Seq[String] = warned(classOf[EndOffsets].getName) {
      watch.expect(starts)
      watch.ends(starts, mirror.toSet)(log.ends)(false)
    }
    val first = KafkaPosition.of(Seq(mirror(0) -> 6L, mirror(1) -> 9L))
    log.fill("mirror", 0, 4)
    val messages = look(first)
    assert(messages.size == 2 && messages.head.contains("mirror-0 is 6, and the log of the partition ends at 4"))
    assert(messages.last.contains("The start of mirror-1 is 9, and the log of the partition ends at 0"))
    assert(look(first).isEmpty)
    log.fill("mirror", 0, 2)
    log.fill("mirror", 1, 9)
    assert(look(first).isEmpty)
    assert(look(KafkaPosition.of(Seq(mirror(0) -> 8L, mirror(1) -> 9L))).size == 1)
  }

  test("an open transaction before the position produces one warning with the first open offset") {
    val (log, watch) = waiting(DataLoss.Fail, isCommitted = true)
    log.fill("mirror", 0, 60)
    log.open = Map(mirror(0) -> 20L)
    val position = KafkaPosition.of(Seq(mirror(0) -> 60L))
    val messages = warned(classOf[EndOffsets].getName) {
      (1 to 3).foreach(_ => watch.ends(position, Set(mirror(0)))(log.ends)(false))
    }
    assert(messages.size == 1, messages)
    assert(messages.head.contains("mirror-0 was read up to offset 60, and has open transactions from offset 40"))
  }

  test("ranges that a replay cannot read produce one warning, and no warning in later runs") {
    val run = world("subscribe" -> "t,u", "onTopicRemoved" -> "drop")
    run.log.create("u", 1)
    val e     = run.start()
    val from  = e.start(StartPosition.Configured)
    val until = e.advance(from, Limits.Everything)
    run.log.delete("t")
    def replayed() = lost(run.replay(from, until)).filter(_.contains("a logged batch is read again"))
    val messages   = replayed()
    assert(messages.size == 1 && messages.head.contains("t-0 [0, 10)"), messages)
    assert(replayed().isEmpty)
  }

  test("a deleted topic produces one warning, in the run that detects the deletion") {
    Seq("drop", "drain").foreach { policy =>
      val run = world("subscribePattern" -> "[tu]", "onTopicRemoved" -> policy)
      run.log.create("u", 1)
      val e    = run.start()
      val from = e.advance(e.start(StartPosition.Configured), Limits.Everything)
      run.log.delete("t")
      val messages = lost {
        (1 to 3).foreach { _ =>
          run.later()
          e.advance(from, Limits.Everything)
        }
        run.start().advance(from, Limits.Everything)
      }
      assert(messages.size == 1 && messages.head.contains("t-0 [10, 10)"), (policy, messages))
      assert(messages.head.contains("or the user is no longer authorized to describe"), "a pattern does not match it")
    }
  }

  test("the warning for many unresponsive partitions names 50 partitions and the number of other partitions") {
    val run = world()
    run.log.create("t", 54)
    val e    = run.start()
    val from = e.start(StartPosition.Configured)
    run.log.leaderless = (1 to 53).map(t).toSet
    val messages = warned(classOf[UnavailablePartitions].getName)(e.advance(from, Limits.Everything))
    assert(messages.size == 1 && messages.head.contains(" t-50 and 3 other partitions."), messages)
    assert(!messages.head.contains("t-51"))
  }
}
