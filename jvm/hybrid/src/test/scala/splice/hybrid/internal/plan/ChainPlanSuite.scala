// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.plan

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}
import java.time.Instant

import scala.reflect.ClassTag

import com.fasterxml.jackson.databind.JsonNode
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.options.HandOverRules
import splice.hybrid.{HybridWorlds, Legs, LocalSpark}
import splice.source.internal.legs.LegPlan
import splice.source.log.Outlook
import splice.source.options.SourceOptions
import splice.source.runtime.Jobs
import splice.source.{Position, Source, SourceProvider, SplitEnumerator, SplitRange, StartPosition}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** Tests of plans of chains with file archives and a log in memory. */
final class ChainPlanSuite extends AnyFunSuite with LocalSpark with HybridWorlds {

  private lazy val folder: Path = Files.createTempDirectory("splice-plan")

  private val exact = Seq("handOver" -> "offsets")

  private object NoJobs extends Jobs {
    override def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B] =
      if (inputs.exists(_.isInstanceOf[SplitRange])) fail(s"a job reads $inputs") else inputs.map(task)
  }

  /** Creates a log of 20 records per partition, with one second between two records. */
  private def log(): MemoryLog = {
    val created = Legs.log()
    for { p <- 0 until 2; i <- 0 until 20 } created.append(p, p * 20L + i, millis = 1000L * i)
    created
  }

  /** Writes offsets (from included, until excluded) of a partition to three files. */
  private def archive(name: String, topic: String, ranges: (Int, (Int, Int))*): String = {
    val path = folder.resolve(name).toString
    ranges.foreach { case (p, (from, until)) =>
      spark.range(from.toLong, until.toLong, 1, 3)
        .selectExpr(
          s"'$topic' AS topic",
          s"$p AS partition",
          "id AS offset",
          s"id + $p * 20 AS id",
          "TIMESTAMP'1970-01-01' AS timestamp"
        )
        .write.mode("append").parquet(path)
    }
    path
  }

  private def files(name: String, path: String, more: (String, String)*): (String, Seq[(String, String)]) =
    name -> (Seq("source" -> "files", "format" -> "parquet", "path" -> path, "maxFilesPerTrigger" -> "2") ++ more)

  private def plan(source: Source[_ <: Position], scan: Boolean, jobs: Jobs = Jobs.InThread): Seq[LegPlan] =
    source.plan(Legs.context(new MemorySideLog).copy(jobs = jobs), scan)

  private def text(node: JsonNode, path: String*): String = path.foldLeft(node)(_.path(_)).asText

  test("a plan without a scan has files, rows from footers, batches and logs, and runs no job over rows") {
    val live  = log()
    val path  = archive("plain", live.name, 0 -> (0 -> 10), 1 -> (0 -> 12))
    val legs  = plan(Legs.source(files("history", path), Legs.live(live, exact: _*)), scan = false, NoJobs)
    val first = legs.head.json
    assert(first.path("files").asInt == 6 && first.path("rows").asInt == 22 && first.path("batches").asInt == 3)
    assert(first.path("limits").path("files").asInt == 2)
    assert(legs(1).batches.isEmpty && text(legs(1).json, "handOver", "undecided").contains("plan(scan=True)"))
    val topic = legs(1).json.path("topics").path(live.name)
    assert(topic.path("partitions").asInt == 2 && topic.path("offsets").asInt == 40)
    assert(topic.path("ranges").path("1").toString == "[0,20]")
    assert(legs.flatMap(_.warnings).isEmpty)
  }

  test("a plan has the columns of a known writer, and not the columns that the rule names") {
    val live  = log()
    val plain = archive("named", live.name, 0 -> (0 -> 5))
    val found = folder.resolve("found").toString
    spark.read.parquet(plain)
      .selectExpr("id", "timestamp", "struct(topic, partition, offset) AS at").write.parquet(found)
    def columns(path: String) = {
      val source =
        Legs.source(files("history", path, "select" -> "id"), Legs.live(live, exact :+ ("select" -> "id"): _*))
      plan(source, scan = false, NoJobs).last.json.path("handOver").path("columns")
    }
    assert(columns(found).toString ==
      """{"history":{"topic":"at.topic","partition":"at.partition","offset":"at.offset"}}""")
    assert(columns(plain).isMissingNode)
  }

  test("a plan with a scan has the batches, the start and the table of the following query") {
    val live   = log()
    val old    = archive("scan-old", live.name, 0 -> (0 -> 5), 1 -> (0 -> 12))
    val recent = archive("scan-recent", live.name, 0 -> (7 -> 10))
    val source =
      Legs.source(files("old", old), files("recent", recent), Legs.live(live, exact :+ ("maxRows" -> "6"): _*))
    val legs    = plan(source, scan = true)
    val sideLog = new MemorySideLog
    val run     = Legs.run(source, sideLog)
    run.freeze()
    val ends = batches(run).map(_._2)
    assert(legs.map(_.batches.get.number) ==
      Seq("old", "recent", "live").map(name => ends.count(leg(_) == name).toLong))
    val entry = sideLog.scope("leg-live").get("hand-over-00000000").get
    assert(legs.last.json.path("handOver").path("found").toString == entry.slice(3, 5).mkString("[", ",", "]"))
    assert(legs.last.json.path("start").toString == entry(2))
    assert(legs.last.json.path("rows").asInt == 20)
  }

  test("a plan has a warning for an expected gap, and the error of a switch that would fail") {
    val live   = log()
    val path   = archive("gap", live.name, 0 -> (0 -> 5), 1 -> (0 -> 20))
    val source = Legs.source(files("history", path), Legs.live(live, exact: _*))
    Files.list(Path.of(path)).forEach { file =>
      val _ = Files.setLastModifiedTime(file, FileTime.from(Instant.parse("1970-01-01T00:00:05Z")))
    }
    live.forget(0, 8)
    val expected = plan(source, scan = false).last.warnings
    assert(expected.size == 1, expected)
    Seq("Leg 'live'", "'history'", "1970-01-01T00:00:05Z", s"${live.name}-0 begins at offset 8 of 1970-01-01T00:00:08Z")
      .foreach(words => assert(expected.head.contains(words), expected))
    val failed = plan(source, scan = true).last
    assert(text(failed.json, "handOver", "error").contains(s"${live.name}-0 5 to 7"), failed.json)
    assert(failed.batches.isEmpty && failed.warnings.exists(_.contains("would stop at the switch")))
    val warned =
      plan(Legs.source(files("history", path), Legs.live(live, exact :+ ("onGap" -> "warn"): _*)), scan = true).last
    assert(text(warned.json, "handOver", "onGap") == "warn" && warned.batches.nonEmpty)
    assert(warned.warnings.exists(_.contains("1 partitions have offsets that are missing")), warned.warnings)
    val (_, logged) = LoggedMessages.during("splice.hybrid.internal.plan.LaterLegs")(Legs.run(source).initial())
    assert(logged.size == 1 && logged.head.contains("A gap is expected"))
  }

  test("the plan and the first start warn of a time in the history that is later than now") {
    val live  = log()
    val early = folder.resolve("dated").toString
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    try
      spark.sql("SELECT id, TIMESTAMP'2099-01-01T00:00:00Z' AS ts, now() AS written FROM range(3)").write.parquet(early)
    finally spark.conf.unset("spark.sql.parquet.outputTimestampType")
    val select                          = "select" -> "'t' AS topic, 0 AS partition, id AS offset, id, ts AS timestamp"
    def source(rule: (String, String)*) = Legs.source(files("history", early, select), Legs.live(live, rule: _*))
    def timed(column: String)           =
      source("handOver" -> "eventTime", "handOver.column" -> column, "handOver.overlap" -> "1h")
    def warnings(of: Source[_ <: Position]): Seq[String] = {
      val (_, logged) = LoggedMessages.during("splice.hybrid.internal.plan.LaterLegs")(Legs.run(of).initial())
      val planned     = plan(of, scan = false).last.warnings
      assert(logged.size == planned.size, logged)
      planned
    }
    val found = warnings(timed("ts"))
    assert(found.size == 1, found)
    Seq("The greatest 'ts' in leg 'history' is 2099-01-01T00:00:00Z", "END_IN_FUTURE", "live.handOver").foreach {
      words =>
        assert(found.head.contains(words), found)
    }
    assert(plan(timed("written"), scan = false).last.warnings.isEmpty)
    val modified = source("handOver" -> "modificationTime", "handOver.overlap" -> "1h")
    Files.list(Path.of(early)).forEach { file =>
      val _ = Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2098-01-01T00:00:00Z")))
    }
    assert(plan(
      modified,
      scan = false
    ).last.warnings.exists(_.contains("newest modification time in leg 'history' is 2098")))
  }

  test("time rules that need no rows are decided without a scan") {
    val live = log()
    val path = archive("time", live.name, 0 -> (0 -> 5))
    Files.list(Path.of(path)).forEach { file =>
      val _ = Files.setLastModifiedTime(file, FileTime.from(Instant.parse("1970-01-01T00:00:10Z")))
    }
    val rule = Seq("handOver" -> "modificationTime", "handOver.overlap" -> "2s")
    val legs = plan(Legs.source(files("history", path), Legs.live(live, rule: _*)), scan = false, NoJobs)
    assert(text(legs.last.json, "handOver", "start", "timestamp") == "8000")
    assert(legs.last.json.path("rows").asInt == 24 && legs.last.batches.exists(_.number == 1))
  }

  test("the first start checks each later leg once, before the history is read; a restart does not") {
    val (first, second) = (log(), log())
    val path            = archive("check", second.name, 0 -> (0 -> 5))
    val source          =
      Legs.source(
        files("old", path),
        "middle" -> Legs.history(first)._2,
        Legs.live(second, "handOver" -> "nowMinus", "handOver.duration" -> "1h")
      )
    second.failOnRequest("outlook")
    val sideLog = new MemorySideLog
    val error   = intercept[IllegalStateException](Legs.run(source, sideLog).initial())
    assert(error.getMessage.contains("outlook") && sideLog.get("initial").isEmpty)
    assert(first.requested("close") == 1, "the check closes the legs that it has opened")
    assert(intercept[IllegalStateException](plan(source, scan = false)).getMessage.contains("outlook"))
    val third   = log()
    val working = Legs.source(files("old", path), "middle" -> Legs.history(third)._2)
    val other   = new MemorySideLog
    val start   = Legs.run(working, other).initial()
    assert(third.requested("outlook") == 1 && third.requested("close") == 1)
    val again = Legs.run(working, other)
    assert(again.initial() == start)
    val _ = again.advance(start, everything = false)
    assert(third.requested("outlook") == 1)
  }

  test("a source without an outlook also has a plan") {
    val live = log()
    val legs = plan(SourceProvider.create(SourceOptions(Legs.live(live, "maxRows" -> "8")._2.toMap)), scan = false)
    assert(legs.map(_.batches.get.number) == Seq(5L) && legs.head.json.path("source").asText == "memory")
  }

  test("a plan without a batch count still has the row count") {
    val many = Legs.log(1)
    (0L until 10020L).foreach(many.append(0, _))
    val leg = plan(Legs.source(Legs.live(many, "maxRows" -> "1")), scan = false).head
    assert(leg.batches.map(count => (count.number, count.isMore)).contains((10000L, true)))
    assert(leg.json.path("rows").asLong == 10020L && leg.json.path("moreBatches").asBoolean)
  }

  test("a very large batch without a limit is a warning") {
    val big = new Outlook { override def bytes: Option[Long] = Some(9L << 30) }
    def warnings(more: (String, String)*): Seq[String] = {
      val source = Legs.source(Legs.live(Legs.log(), more: _*))
      val run    = SplitEnumerator.untyped(source, Legs.context(new MemorySideLog))
      val start  = run.start(StartPosition.Configured)
      LegPlan(Some("live"), source, run, big, Some(start), None).warnings
    }
    assert(warnings().map(_.take(12)) == Seq("Leg 'live': ") && warnings().head.contains(s"${9L << 30} bytes"))
    assert(warnings("maxRows" -> "5").isEmpty)
  }

  private def memory(live: MemoryLog, until: Map[Int, Long]): MemoryLog = Legs.archiveOf(live, until)

  test(
    "the switch to the last leg is a batch even without rows, and a chain of one leg without rows has no batch"
  ) {
    val live    = log()
    val history = memory(live, Map(0 -> 20, 1 -> 20))
    val legs    = plan(Legs.source(Legs.history(history), Legs.live(live, exact: _*)), scan = true)
    assert(legs.map(_.batches.get.number) == Seq(1L, 1L) && legs.last.json.path("rows").asInt == 0)
    val more = plan(Legs.source(Legs.history(Legs.log()), Legs.live(live)), scan = true)
    assert(more.map(_.batches.get.number) == Seq(0L, 1L), "only the last leg")
    assert(plan(Legs.source(Legs.live(Legs.log())), scan = true).map(_.batches.get.number) == Seq(0L))
  }

  test("a plan has the policies of the leg, and a warning about accepted duplicates") {
    val live     = log()
    val history  = memory(live, Map(0 -> 5, 1 -> 5))
    val policies = exact ++ Seq("onHoles" -> "ignore", "onDuplicates" -> "warn")
    live.read(1, 0, 2).foreach(history.archive(0, _))
    val leg = plan(Legs.source(Legs.history(history), Legs.live(live, policies: _*)), scan = true).last
    assert(Seq("onHoles", "onGap", "onDuplicates").map(text(leg.json, "handOver", _)) == Seq("ignore", "fail", "warn"))
    assert(leg.warnings.size == 1 &&
      leg.warnings.head.contains(": 1 partitions have duplicate records in the history."))
    val timed = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")
    val other = plan(Legs.source(Legs.history(history), Legs.live(live, timed: _*)), scan = true).last
    assert(other.json.path("handOver").path("onHoles").isMissingNode && text(other.json, "handOver", "onGap") == "fail")
  }

  test("a leg after a failing switch has an undecided start, and only the warnings of its switch") {
    val (second, third) = (log(), log())
    val history         = memory(second, Map(0 -> 5, 1 -> 20))
    val middle          = MemoryOptions.of(second, exact :+ ("bounded" -> "true"): _*)
    second.forget(0, 8)
    val source = Legs.source(
      Legs.history(history),
      "middle" -> middle,
      Legs.live(third, "handOver" -> "nowMinus", "handOver.duration" -> "1h")
    )
    val legs = plan(source, scan = true)
    assert(text(legs(1).json, "handOver", "error").contains(s"${second.name}-0 5 to 7"))
    assert(text(legs(2).json, "handOver", "undecided") == "the start of leg 'middle' is undecided")
    assert(legs(1).warnings.count(_.contains("would stop at the switch")) == 1 && legs(2).warnings.isEmpty)
    assert(second.requested("enumerator") == second.requested("close"))
  }

  test("a plan without a scan does not call a user-defined rule") {
    val name = "never-called"
    HandOverRules.register(name, (_: String) => fail("called"))
    val rule   = Seq("handOver" -> "custom", "handOver.python" -> name)
    val source = Legs.source(Legs.history(log()), Legs.live(log(), rule: _*))
    assert(text(plan(source, scan = false).last.json, "handOver", "undecided") == "plan(scan=True) calls the rule")
  }

  test("a plan freezes the ends, requests each outlook once, and closes all legs, even after a failure") {
    val (history, live) = (log(), log())
    val source          = Legs.source(Legs.history(history), Legs.live(live, exact: _*))
    plan(source, scan = true)
    Seq(history, live).foreach(of =>
      assert(Seq("freeze", "outlook", "enumerator", "close").map(of.requested).toSet == Set(1))
    )
    live.failOnRequest("outlook")
    intercept[IllegalStateException](plan(source, scan = true))
    assert(Seq(history, live).map(_.requested("close")) == Seq(2, 2))
  }
}
