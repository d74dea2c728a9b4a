// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.deletion

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.ClientMetrics
import splice.testkit.LoggedMessages

/** Tests of a topic that is deleted at different phases of a query. */
final class RealDeletionSuite extends AnyFunSuite with DeletedTopics {

  test("a deletion between two batches: the other topic is read, and the policy applies") {
    create("leaves", "stays")
    val runs = policies.map { policy =>
      val source = this.source(policy, "leaves", "stays")
      policy -> new Coordinator(source, context(new MemorySideLog), 1, batchesToRetain = 100)
    }
    try {
      val begun = atOnce(runs) { case (policy, c) => (policy, c, real.all(c, c.initial())) }
      real.delete("leaves")
      real.write("stays", 1, 5, 8)
      val (ended, reported) = LoggedMessages.during("splice.kafka") {
        atOnce(begun) { case (policy, c, from) => (policy, c, Try(reach(c, from, "stays", 8))) }
      }
      ended.foreach { case (policy, _, result) =>
        assert(condition(result) == Option.when(policy.fails)("SPLICE_KAFKA_DATA.DATA_LOSS"), policy)
        result.foreach(at => assert(at.json.contains("leaves") == policy.keepsPosition, policy))
      }
      // Each query that continues logs one warning.
      assert(reported.count(_.contains("leaves-0")) == policies.count(!_.fails), reported)
      // Later batches send no request for the topic. A client would log about ten warnings per second for such
      // requests. A response to an earlier request can still arrive.
      var end = 8
      real.eventually("no request names the topic", within) {
        real.write("stays", 1, end, end + 1)
        end += 1
        val (_, later) = LoggedMessages.during("org.apache.kafka.clients") {
          atOnce(ended) { case (_, c, result) => result.foreach(at => reach(c, at, "stays", end)) }
        }
        !later.exists(_.contains("leaves"))
      }
      // An idle trigger requests the ends. The driver requests topics once per second, and all topics and the cluster
      // every 10 seconds.
      ended.foreach { case (policy, c, result) =>
        result.foreach { at =>
          val now                = reach(c, at, "stays", end)
          val (_, sent, seconds) = counted(policy.client("leaves", "stays")) {
            (1 to Triggers).foreach(_ => assert(real.all(c, now) == now))
          }
          info(f"idle triggers with $policy: $sent requests in $seconds%.1f s")
          assert(sent >= Triggers && sent <= Triggers + 3 * seconds + 10, policy)
        }
      }
      assert(!real.exists("leaves"))
    } finally runs.foreach(_._2.close())
  }

  test("a deletion during a batch: the rows of another topic of the slot are read, and the policy applies") {
    create("goes", "remains")
    val source = this.source(policies.last, "goes", "remains")
    real.run(source, slots = 1) { c =>
      val begin = c.initial()
      val tasks = c.tasks(begin, real.all(c, begin))
      assert(tasks.size == 1 && tasks.head.ranges.size == 2)
      real.delete("goes")
      val (read, reported) = LoggedMessages.during("splice.kafka") {
        atOnce(policies) { policy =>
          val own                   = this.source(policy, "goes", "remains")
          val (rows, sent, seconds) = counted(policy.client("goes", "remains")) {
            Try(real.rows(own, tasks, policy.toString))
          }
          (policy, rows, sent, seconds)
        }
      }
      read.foreach { case (policy, rows, sent, seconds) =>
        info(f"a batch with $policy: $sent requests in $seconds%.1f s")
        assert(sent <= PerSecond * (seconds + 1), policy)
        assert(condition(rows) == Option.when(policy.fails)("SPLICE_KAFKA_DATA.DATA_LOSS"), policy)
        rows.foreach(all => assert(all.map(_._2) == (0L until 5L), policy))
      }
      assert(reported.count(_.contains("goes-0 [0, 5)")) == policies.count(!_.fails), reported)
    }
    assert(!real.exists("goes"))
  }

  test("a deletion after a batch: readers unassign the topic without a burst of requests") {
    create("fades", "shines")
    val policy   = RemovalPolicy("drain", failOnDataLoss = false)
    val id       = policy.client("fades", "shines")
    val source   = real.source(options(policy, "fades", "shines") :+ ("kafka.metadata.max.age.ms" -> "100"): _*)
    def assigned = ClientMetrics.assigned(id)
    real.run(source, slots = 1) { c =>
      val begin = c.initial()
      val first = real.all(c, begin)
      assert(real.rows(source, c.tasks(begin, first)).size == 10 && assigned == Set("fades", "shines"))
      real.delete("fades")
      var at = first
      real.eventually("the topic is not assigned", within) {
        real.write("shines", 1, 5, 6)
        val until                 = real.moved(c, at)
        val tasks                 = c.tasks(at, until)
        val (rows, sent, seconds) = counted(id)(real.rows(source, tasks))
        at = until
        assert(rows.nonEmpty && sent <= PerSecond * (seconds + 1))
        assigned == Set("shines")
      }
    }
  }

  test("a deletion before a replay: the other ranges of the batch are read, and the policy applies") {
    create("was", "is", "other")
    val source         = this.source(policies.last, "was", "is")
    val log            = new MemorySideLog
    val (begin, until) = real.run(source, log) { c =>
      val begin = c.initial()
      (begin.json, real.all(c, begin).json)
    }
    real.delete("was")
    // The topic is in the subscription, or was removed from the subscription at its deletion.
    val starts = for { policy <- policies; topics <- Seq(Seq("was", "is"), Seq("is", "other")) } yield (policy, topics)
    val read   = atOnce(starts) { case (policy, topics) =>
      val own    = this.source(policy, topics: _*)
      val c      = new Coordinator(own, context(copy(log)), 1, batchesToRetain = 100)
      val ranges = Try(c.ranges(own.position(begin), own.position(until)).mkString)
      c.close()
      (policy, ranges)
    }
    read.foreach { case (policy, ranges) =>
      assert(condition(ranges) == Option.when(policy.fails)("SPLICE_KAFKA_DATA.DATA_LOSS"), policy)
      ranges.foreach(text => assert(text == "is-0 [0, 5)", policy))
    }
    assert(!real.exists("was"))
  }

  private val Triggers = 200

  // A client waits at least retry.backoff.ms (100 ms) before it requests the metadata of a missing topic again.
  private val PerSecond = 20

  private def copy(log: MemorySideLog): MemorySideLog = {
    val created = new MemorySideLog
    log.keys("").foreach(key => log.get(key).foreach(lines => created.getOrCreate(key)(lines)))
    created
  }
}
