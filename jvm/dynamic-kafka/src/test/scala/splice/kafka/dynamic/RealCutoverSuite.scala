// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.time.temporal.ChronoUnit
import java.time.{Duration, Instant}

import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord

import splice.kafka.broker.RealLog

/** Tests of cutovers of streams to a mirror of their topic, with the same records at other offsets. */
final class RealCutoverSuite extends RealClusters {

  private val hour = Duration.ofHours(1)

  // Timestamps of records have milliseconds.
  private def now: Instant = Instant.now().truncatedTo(ChronoUnit.MILLIS)

  private def anHourAgo: Instant = now.minus(hour)

  /** Creates a topic and its mirror. Each partition of the mirror has a few additional records. */
  private def mirrored(topic: String): Unit = {
    eastLog.create(topic, 2)
    westLog.create(topic, 2)
    write(westLog, topic, -6 until 0, Instant.now().minus(Duration.ofDays(1)))
  }

  /** Writes ids with record times. The first record has the time `first`, and the times increase by one second. */
  private def write(log: RealLog, topic: String, ids: Range, first: Instant): Unit =
    Using.resource(log.producer()) { out =>
      ids.map { i =>
        val time: java.lang.Long = first.plusSeconds((i - ids.head).toLong).toEpochMilli
        out.send(new ProducerRecord(topic, Integer.valueOf(math.abs(i % 2)), time, s"k$i", s"v$i"))
      }.foreach(_.get())
    }

  private def writeBoth(topic: String, ids: Range, first: Instant): Unit =
    Seq(eastLog, westLog).foreach(write(_, topic, ids, first))

  private def at(time: Instant, more: String = ""): String = s"""timestamp: "$time"$more"""

  /** Asserts that every id was read once: ids before `over` from the old topic, later ids from its mirror. */
  private def assertOver(query: Query, ids: Range, over: Int): Unit = {
    val read = query.rows.map(row => row.value.drop(1).toInt -> row.cluster).sortBy(_._1)
    assert(read == ids.map(i => i -> (if (i < over) "east" else "west")))
  }

  test(
    "at a time in the past: each id is read once, from the old topic before the time and from the mirror after the time"
  ) {
    mirrored("past")
    val first = anHourAgo
    writeBoth("past", 0 until 40, first)
    val query = new Query("over", "maxOffsetsPerTrigger" -> "6")
    query.lies("east/past")
    query.run(_.until("some rows")(_.size >= 6))
    query.goesOver(at(first.plusSeconds(21)), "west/past")
    query.run { run =>
      run.until("all rows")(_.size >= 40)
      writeBoth("past", 40 until 44, first.plus(hour))
      run.until("rows of the mirror only")(_.size >= 44)
    }
    assertOver(query, 0 until 44, 21)
  }

  test("at a time in the future: the old topic is read up to the time, and a lagging mirror causes no duplicates") {
    mirrored("future")
    val time  = now.plusSeconds(15)
    val first = time.minusSeconds(20)
    val query = new Query("ahead")
    query.lies("east/future")
    query.run { run =>
      write(eastLog, "future", 0 until 10, first)
      run.until("rows")(_.size >= 10)
      query.goesOver(at(time), "west/future")
      write(eastLog, "future", 10 until 16, first.plusSeconds(10))
      run.until("rows and the change")(rows =>
        rows.size >= 16 && query.position.exists(_.json.contains("\"change\":1"))
      )
    }
    // The first restart is before the time, and the second restart is after the time.
    query.run { run =>
      write(eastLog, "future", 16 until 30, first.plusSeconds(16))
      run.until("rows up to the time")(_.size >= 20)
    }
    write(westLog, "future", 0 until 12, first)
    eastLog.eventually("the time")(Instant.now().isAfter(time))
    query.run { run =>
      assert(run.read(query.position.get, run.plan()).isEmpty)
      write(westLog, "future", 12 until 30, first.plusSeconds(12))
      run.until("rows of the mirror")(_.size >= 30)
    }
    query.run { run =>
      writeBoth("future", 30 until 36, first.plusSeconds(30))
      run.until("more rows of the mirror")(_.size >= 36)
    }
    assertOver(query, 0 until 36, 20)
  }

  test("at a time without a record: the ends of both topics apply when no late record of that time can arrive") {
    mirrored("quiet")
    val query = new Query("quietly")
    query.lies("east/quiet")
    val time = now.plusSeconds(2)
    writeBoth("quiet", 0 until 10, time.minusSeconds(20))
    query.run { run =>
      run.until("rows")(_.size >= 10)
      query.goesOver(at(time, ", lateness: 1s"), "west/quiet")
      run.until("the switch to the mirror")(_ => query.position.exists(_.json.contains("west")))
    }
    assert(Instant.now().isAfter(time.plusSeconds(1)))
    writeBoth("quiet", 10 until 16, time.plusSeconds(1))
    query.run(_.until("rows of the mirror")(_.size >= 16))
    assertOver(query, 0 until 16, 10)
  }

  test("at mapped offsets: each id is read once, even with a restart before the old topic is drained") {
    mirrored("mapped")
    writeBoth("mapped", 0 until 40, anHourAgo)
    val query = new Query("mapping", "maxOffsetsPerTrigger" -> "6", "cutover" -> "stream")
    query.lies("east/mapped")
    query.run(_.until("some rows")(_.size >= 6))
    query.goesOver(
      """offsets: {east: {mapped: {"0": 12, "1": 11}}, west: {mapped: {"0": 15, "1": 14}}}""",
      "west/mapped"
    )
    query.run(_.until("the change")(_ => query.position.exists(_.json.contains("west"))))
    query.run(_.until("all rows")(_.size >= 40))
    assertOver(query, 0 until 40, 23)
  }

  test("at mapped offsets that the mirror has not reached: each run waits for the mirror, and each id is read once") {
    mirrored("ahead")
    val first = anHourAgo
    write(eastLog, "ahead", 0 until 40, first)
    write(westLog, "ahead", 0 until 10, first)
    val query = new Query("outrunning", "cutover" -> "stream")
    query.lies("east/ahead")
    query.run(_.until("rows")(_.size >= 40))
    write(eastLog, "ahead", 40 until 50, first.plusSeconds(40))
    query.goesOver(
      """offsets: {east: {ahead: {"0": 24, "1": 24}}, west: {ahead: {"0": 27, "1": 27}}}""",
      "west/ahead"
    )
    query.run { run =>
      run.until("the remaining rows of the old topic, and the end of the cutover")(rows =>
        rows.size >= 48 && query.position.exists(_.json.contains("\"change\":2"))
      )
      assert(run.plan() == query.position.get)
    }
    // A later document without the cutover has no effect.
    query.lies("west/ahead")
    query.run { run =>
      run.until("the change")(_ => query.position.exists(_.json.contains("\"change\":3")))
      write(westLog, "ahead", 10 until 47, first.plusSeconds(10))
      assert(run.plan() == query.position.get)
      write(westLog, "ahead", 47 until 50, first.plusSeconds(47))
      run.until("the first rows of the mirror")(_.size >= 50)
    }
    query.run { run =>
      writeBoth("ahead", 50 until 56, first.plusSeconds(50))
      run.until("more rows of the mirror")(_.size >= 56)
    }
    assertOver(query, 0 until 56, 48)
  }

  test("a cutover before records that were already read is rejected until the document sets another time") {
    mirrored("late")
    val first = anHourAgo
    writeBoth("late", 0 until 20, first)
    val query = new Query("lately")
    query.lies("east/late")
    query.run { run =>
      run.until("rows")(_.size >= 20)
      query.goesOver(at(first.plusSeconds(10)), "west/late")
      writeBoth("late", 20 until 30, first.plusSeconds(20))
      run.until("rows of the old topic")(_.size >= 30)
      run.until("the rejection")(_ => run.rejections > 0)
      query.goesOver(at(first.plusSeconds(34)), "west/late")
      run.until("the switch to the mirror")(_ => query.position.exists(_.json.contains("west")))
      writeBoth("late", 30 until 40, first.plusSeconds(30))
      run.until("rows of the mirror")(_.size >= 40)
    }
    assertOver(query, 0 until 40, 30)
  }

  test("a document that needs a response of an unavailable cluster is applied when the cluster is available again") {
    mirrored("away")
    eastLog.create("beside", 1)
    val first = anHourAgo
    writeBoth("away", 0 until 10, first)
    val query = new Query(
      "absent",
      "clusterWait"                  -> "500ms",
      "kafka.default.api.timeout.ms" -> "2000",
      "kafka.request.timeout.ms"     -> "1000"
    )
    query.lies("west/away", "east/beside")
    query.run { run =>
      run.until("rows")(_.size >= 16)
      west.kill()
      query.goesOver(at(first.plusSeconds(10)), "east/away", "east/beside")
      eastLog.write("beside", 1, 0, 5)
      run.until("rows of the other cluster")(_.size >= 21)
      assert(query.position.exists(_.json.contains("west")))
      west.start()
      write(eastLog, "away", 10 until 20, first.plusSeconds(10))
      run.until("rows of the mirror")(_.size >= 31)
    }
    val read = query.rows.filter(_.topic == "away").map(row => row.value.drop(1).toInt -> row.cluster).sortBy(_._1)
    assert(read == (-6 until 20).map(i => i -> (if (i < 10) "west" else "east")))
  }

  test(
    "a document that waits for a cluster is reported, and a document without the need to wait is applied immediately"
  ) {
    mirrored("stuck")
    val first = anHourAgo
    write(westLog, "stuck", 0 until 10, first)
    val query = new Query(
      "sticking",
      "clusterWait"                  -> "500ms",
      "kafka.default.api.timeout.ms" -> "2000",
      "kafka.request.timeout.ms"     -> "1000"
    )
    query.lies("west/stuck")
    query.run { run =>
      run.until("rows")(_.size >= 16)
      assert(run.waitsFor.isEmpty)
      write(westLog, "stuck", 10 until 14, first.plusSeconds(10))
      west.kill()
      write(eastLog, "stuck", 0 until 20, first)
      query.goesOver(at(first.plusSeconds(14)), "east/stuck")
      run.until("the awaited cluster")(_ => run.waitsFor.contains("""["west"]"""))
      assert(query.position.exists(_.json.contains("\"change\":0")) && query.rows.size == 16)
      query.goesOver(
        """offsets: {west: {stuck: {"0": 10, "1": 10}}, east: {stuck: {"0": 7, "1": 7}}}""",
        "east/stuck"
      )
      run.until("rows of the mirror")(_.size >= 22)
      assert(run.waitsFor.isEmpty)
      west.start()
      run.until("the remaining rows of the old topic")(_.size >= 26)
    }
    val read = query.rows.map(row => row.value.drop(1).toInt -> row.cluster).sortBy(_._1)
    assert(read == (-6 until 20).map(i => i -> (if (i < 14) "west" else "east")))
  }

  test("a topic on an unavailable cluster that returns after its retention waits for the cluster") {
    eastLog.create("stays", 1)
    westLog.create("returns", 1)
    westLog.write("returns", 1, 0, 5)
    val query = new Query(
      "returning",
      "onRemoved"                    -> "drop",
      "removedRetention"             -> "1ms",
      "clusterWait"                  -> "500ms",
      "kafka.default.api.timeout.ms" -> "2000",
      "kafka.request.timeout.ms"     -> "1000"
    )
    query.lies("east/stays", "west/returns")
    query.run { run =>
      run.until("rows")(_.size >= 5)
      query.lies("east/stays")
      run.until("the removal, and the end of its retention")(_ =>
        query.position.exists(_.json.contains("\"change\":2"))
      )
      west.kill()
      query.lies("east/stays", "west/returns")
      eastLog.write("stays", 1, 0, 5)
      run.until("rows of the available cluster")(_.size >= 10)
      west.start()
      run.until("rows from the start again")(_.size >= 15)
    }
    assertRows(query, wanted("east/stays", 0, 5), wanted("west/returns", 0, 5), wanted("west/returns", 0, 5))
  }
}
