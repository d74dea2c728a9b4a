// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.nio.file.Files

import splice.source.Position
import splice.source.errors.SpliceException

/** Tests of clusters and topics that are added and removed. */
final class RealDynamicSuite extends RealClusters {

  test("one stream on two clusters: every row is read once, with its cluster and stream") {
    eastLog.create("both", 3)
    westLog.create("both", 2)
    eastLog.write("both", 3, 0, 30)
    westLog.write("both", 2, 0, 20)
    val query = new Query("both-stream")
    query.lies("east/both", "west/both")
    query.run(_.until("all rows")(_.size >= 50))
    assertRows(query, wanted("east/both", 0, 30), wanted("west/both", 0, 20))
    assert(query.rows.forall(_.stream == "both-stream"))
    eastLog.write("both", 3, 30, 60)
    query.run(_.until("rows that were written during the outage")(_.size >= 80))
    assertRows(query, wanted("east/both", 0, 60), wanted("west/both", 0, 20))
  }

  test("a stream with a separate start uses it on every cluster, and another stream uses the common start") {
    val text =
      s"""version: 1
         |clusters:
         |  east: {bootstrapServers: "${east.servers}"}
         |  west: {bootstrapServers: "${west.servers}"}
         |streams:
         |  old: {east: [old]}
         |  new: {east: [new], west: [new, newer]}
         |""".stripMargin
    Files.writeString(folder.resolve("starting.yaml"), text)
    eastLog.create("old", 1)
    Seq(eastLog -> "new", westLog -> "new", westLog -> "newer").foreach { case (log, topic) => log.create(topic, 2) }
    eastLog.write("old", 1, 0, 5)
    eastLog.write("new", 2, 0, 6)
    Seq("new", "newer").foreach(westLog.write(_, 2, 0, 4))
    val offsets = """{"new":{"0":1,"1":-1},"newer":{"0":-2,"1":1}}"""
    val query   = new Query("starting", "streams" -> "old,new", "stream.new.startingOffsets" -> offsets)
    query.run(_.until("all rows")(_.size >= 5 + 2 + 1 + 3))
    def values(cluster: String, topic: String, of: Int*) = of.map(i => s"$cluster/$topic:v$i")
    assertRows(
      query,
      wanted("east/old", 0, 5),
      values("east", "new", 2, 4),
      values("west", "new", 2),
      values("west", "newer", 0, 2, 3)
    )
    assert(query.rows.forall(row => row.stream == (if (row.topic == "old") "old" else "new")))
  }

  test("drain: a moved topic is read to its end on the old cluster, and from its start on the new cluster") {
    eastLog.create("moves", 2)
    westLog.create("moves", 2)
    val query = new Query("moving", "maxOffsetsPerTrigger" -> "7")
    query.lies("east/moves")
    query.run { run =>
      eastLog.write("moves", 2, 0, 40)
      run.until("some rows")(_.size >= 10)
      westLog.write("moves", 2, 100, 130)
      query.lies("west/moves")
      run.until("both to their ends")(_.size >= 70)
    }
    assertRows(query, wanted("east/moves", 0, 40), wanted("west/moves", 100, 130))
    // Later records in the old topic no longer belong to the stream.
    eastLog.write("moves", 2, 40, 50)
    westLog.write("moves", 2, 130, 140)
    query.run(_.until("more")(_.size >= 80))
    assertRows(query, wanted("east/moves", 0, 40), wanted("west/moves", 100, 140))
  }

  test("cutover=stream: no row of the new cluster is read before the last row of the old cluster") {
    Seq(eastLog, westLog).foreach(_.create("ordered", 2))
    val query = new Query("ordering", "maxOffsetsPerTrigger" -> "6", "cutover" -> "stream")
    query.lies("east/ordered")
    eastLog.write("ordered", 2, 0, 40)
    westLog.write("ordered", 2, 100, 120)
    query.run { run =>
      run.until("some rows")(_.size >= 6)
      query.lies("west/ordered")
      run.until("all rows")(_.size >= 60)
    }
    assertRows(query, wanted("east/ordered", 0, 40), wanted("west/ordered", 100, 120))
    assert(query.rows.take(40).forall(_.cluster == "east"))
  }

  test("drop: a removed cluster is no longer read, and a returned topic continues at its position") {
    Seq(eastLog, westLog).foreach(_.create("drops", 1))
    val query = new Query("dropping", "onRemoved" -> "drop")
    query.lies("east/drops", "west/drops")
    eastLog.write("drops", 1, 0, 5)
    westLog.write("drops", 1, 0, 5)
    query.run(_.until("rows")(_.size >= 10))
    query.lies("east/drops")
    query.run { run =>
      eastLog.write("drops", 1, 5, 6)
      run.until("the change")(_ => query.position.exists(!_.json.contains("west")))
      westLog.write("drops", 1, 5, 10)
      run.until("east continues")(_.size >= 11)
    }
    assertRows(query, wanted("east/drops", 0, 6), wanted("west/drops", 0, 5))
    query.lies("east/drops", "west/drops")
    query.run(_.until("west again")(_.size >= 16))
    assertRows(query, wanted("east/drops", 0, 6), wanted("west/drops", 0, 10))
  }

  test(
    "an unread planned batch has the same plan after a kill, even if the metadata has changed"
  ) {
    Seq(eastLog, westLog).foreach(_.create("kills", 2))
    eastLog.write("kills", 2, 0, 20)
    westLog.write("kills", 2, 0, 20)
    val query = new Query("killed", "maxOffsetsPerTrigger" -> "15")
    query.lies("east/kills", "west/kills")
    val planned = Iterator.continually(()).take(1).map { _ =>
      var until: Option[Position] = None
      query.run(run => until = Some(run.plan()))
      until.get
    }.next()
    query.lies("west/kills")
    query.run { run =>
      val from = query.position.get
      query.rows ++= run.read(from, planned)
      query.position = Some(planned)
      run.until("all rows")(_.size >= 40)
    }
    assertRows(query, wanted("east/kills", 0, 20), wanted("west/kills", 0, 20))
  }

  test(
    "a missing or invalid metadata file does not block the query, and a document that removes all streams is not applied"
  ) {
    eastLog.create("guarded", 1)
    val query = new Query("guard")
    query.lies("east/guarded")
    query.run { run =>
      eastLog.write("guarded", 1, 0, 5)
      run.until("rows")(_.size >= 5)
      Files.delete(folder.resolve("guard.yaml"))
      eastLog.write("guarded", 1, 5, 10)
      run.until("rows without metadata")(_.size >= 10)
    }
    Files.writeString(folder.resolve("guard.yaml"), "version: 1\nstreams: {}\n")
    eastLog.write("guarded", 1, 10, 15)
    query.run(_.until("rows despite an empty document")(_.size >= 15))
    assertRows(query, wanted("east/guarded", 0, 15))
  }

  test("a checkpoint of a source of one cluster is accepted and continues at its position") {
    eastLog.create("taken", 2)
    eastLog.write("taken", 2, 0, 20)
    val query = new Query("takes")
    query.begin(eastLog.source("subscribe" -> "taken", "startingOffsets" -> "earliest", "maxOffsetsPerTrigger" -> "8"))
    query.lies("east/taken")
    query.run { run =>
      run.until("the rest")(_.size >= 12)
      westLog.create("taken", 1)
      westLog.write("taken", 1, 0, 5)
      query.lies("east/taken", "west/taken")
      run.until("rows of another cluster")(_.size >= 17)
    }
    assert(query.rows.count(_.cluster == "east") == 12 && query.rows.map(r => r.cluster -> r.value).distinct.size == 17)
  }

  test("two names of one cluster must not share a topic") {
    eastLog.create("twice", 1)
    val text =
      s"""version: 1
         |clusters:
         |  one: {bootstrapServers: "${east.servers}"}
         |  two: {bootstrapServers: "${east.servers}"}
         |streams: {twice: {one: [twice], two: [twice]}}
         |""".stripMargin
    Files.writeString(folder.resolve("twice.yaml"), text)
    val error = intercept[SpliceException](new Query("twice").run(run => { val _ = run.plan() }))
    assert(error.getCondition == "SPLICE_METADATA.DUPLICATE_CLUSTER" && error.getMessage.contains("one and two"))
  }

  test("an unavailable cluster is skipped, and its rows are read when it is available again") {
    Seq(eastLog, westLog).foreach(_.create("isolated", 1))
    val query = new Query(
      "isolation",
      "clusterWait"                  -> "500ms",
      "kafka.default.api.timeout.ms" -> "2000",
      "kafka.request.timeout.ms"     -> "1000"
    )
    query.lies("east/isolated", "west/isolated")
    query.run { run =>
      westLog.write("isolated", 1, 0, 5)
      run.until("rows of west")(_.size >= 5)
      west.kill()
      eastLog.write("isolated", 1, 0, 5)
      run.until("rows of east while west is down")(_.size >= 10)
      west.start()
      westLog.write("isolated", 1, 5, 10)
      run.until("rows of west after its return")(_.size >= 15)
    }
    assertRows(query, wanted("east/isolated", 0, 5), wanted("west/isolated", 0, 10))
  }

  test("a topic that is added later starts at its end, stops at an offset, and resumes there") {
    Seq("kept", "added").foreach(eastLog.create(_, 1))
    eastLog.write("kept", 1, 0, 3)
    eastLog.write("added", 1, 0, 4)
    val query                                = new Query("limits")
    val both                                 = Seq("east/kept", "east/added")
    def changed(run: Run, change: Int): Unit =
      run.until(s"change $change")(_ => query.position.exists(_.json.contains(s"\"change\":$change")))
    query.lies("east/kept")
    query.run { run =>
      run.until("rows")(_.size >= 3)
      query.publish("starts: {limits: latest}", both: _*)
      changed(run, 2)
      eastLog.write("added", 1, 4, 6)
      run.until("rows after the start")(_.size >= 5)
      query.publish("""stops: {limits: {offsets: {east: {kept: {"0": 4}, added: {"0": 7}}}}}""", both: _*)
      changed(run, 4)
      eastLog.write("kept", 1, 3, 6)
      eastLog.write("added", 1, 6, 8)
      run.until("rows up to the stop")(_.size >= 7)
    }
    query.run { run =>
      run.until("the end of both topics")(_ => !query.position.exists(_.json.contains("kept")))
      assert(run.plan() == query.position.get && query.rows.size == 7)
      query.lies(both: _*)
      run.until("all rows")(_.size >= 10)
    }
    assertRows(query, wanted("east/kept", 0, 6), wanted("east/added", 4, 8))
  }
}
