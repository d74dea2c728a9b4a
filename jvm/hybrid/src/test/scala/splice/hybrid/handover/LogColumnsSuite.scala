// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import scala.collection.immutable.ListMap

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.chain.Chain
import splice.hybrid.internal.handover.FromTheFirst
import splice.hybrid.internal.options.{ChainParser, EvidenceCheck, LogColumnsOption}
import splice.hybrid.{HandOver, HybridSource, Legs, LogColumns}
import splice.source.SourceSpec
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions
import splice.testkit.internal.memory.MemoryOptions

/** Tests of the option `logColumns` and its effect on the counted legs of an exact hand-over. */
final class LogColumnsSuite extends AnyFunSuite {

  private val exact   = "handOver"      -> "offsets"
  private val columns = "logColumns"    -> """{"topic":"t","partition":"p","offset":"o"}"""
  private val none    = "logColumns"    -> "none"
  private val ending  = "endingOffsets" -> "latest"

  private def parse(text: String): Option[LogColumns] =
    LogColumnsOption.parse(SourceOptions(Map("history.logColumns" -> text)).scope("history"))

  private def files(name: String, more: (String, String)*): (String, Seq[(String, String)]) =
    name -> (Seq("source" -> "files", "format" -> "parquet", "path" -> s"/lake/$name") ++ more)

  private def kafka(name: String, more: (String, String)*): (String, Seq[(String, String)]) =
    name -> (Seq("source" -> "kafka", "subscribe" -> "t", "kafka.bootstrap.servers" -> "broker:9092") ++ more)

  private def chain(legs: (String, Seq[(String, String)])*): Chain =
    ChainParser.parse(SourceOptions(Legs.options(legs: _*)))

  private def counted(legs: (String, Seq[(String, String)])*): Seq[String] = {
    val all = chain(legs: _*)
    EvidenceCheck(all)
    all.history(all.last).map(_.name)
  }

  private def invalid(texts: String*)(body: => Any): Unit = {
    val error = intercept[SpliceOptionException](body)
    texts.foreach(text => assert(error.getMessage.contains(text), error.getMessage))
  }

  private def refused(texts: String*)(body: => Chain): Unit = invalid(texts: _*)(EvidenceCheck(body))

  test("the value is none, or topic, partition and offset columns") {
    assert(LogColumnsOption.parse(SourceOptions(Map.empty)).isEmpty)
    assert(parse(" None ").contains(LogColumns.none))
    assert(parse(columns._2).contains(LogColumns.of("t", "p", "o")))
    assert(parse("""{"offset":" o ","partition":"p","topic":"t"}""").contains(LogColumns.of("t", "p", "o")))
    assert(parse("""{"partition":"p","offset":"o"}""").contains(LogColumns.ofOneTopic("p", "o")))
    Seq(LogColumns.none, LogColumns.of("a", "b", "c"), LogColumns.ofOneTopic("p", "o")).foreach { own =>
      assert(parse(LogColumnsOption.text(own)).contains(own))
    }
  }

  test("a value with an unknown, missing or duplicate key, or with a duplicate column, is rejected with the reason") {
    def rejected(text: String, reason: String): Unit =
      invalid("'history.logColumns'", s"'$text'", reason, """{"topic":"t","partition":"p","offset":"o"}""")(parse(text))
    rejected("all", "all")
    rejected("""["t","p","o"]""", "the value is not an object")
    rejected(
      """{"topic":"t","partition":"p","offset":"o","ofset":"x"}""",
      "'ofset' is not one of topic, partition, offset"
    )
    rejected("""{"topic":"t","partition":"p"}""", "'offset' is missing")
    rejected("""{"topic":"t","partition":"p","offset":""}""", "'offset' does not name a column")
    rejected("""{"topic":"t","partition":"p","offset":7}""", "'offset' does not name a column")
    rejected("""{"topic":"t","partition":"P","offset":"p"}""", "'partition' and 'offset' are the same column 'P'")
    rejected("""{"topic":"t","topic":"u","partition":"p","offset":"o"}""", "Duplicate field 'topic'")
  }

  test("the columns of a rule must be different") {
    val twice = Seq(exact, "handOver.partition" -> "n", "handOver.offset" -> "N")
    refused("live.handOver.partition", "live.handOver.offset", "the same column 'n'")(chain(
      files("a"),
      kafka("live", twice: _*)
    ))
  }

  test("an exact hand-over does not count excluded legs") {
    assert(counted(files("a", none), files("b"), kafka("live", exact)) == Seq("b"))
    assert(counted(files("a"), files("b", none), files("c"), kafka("live", exact)) == Seq("a", "c"))
    assert(counted(files("a"), kafka("k", ending, none), files("b"), kafka("live", exact)) == Seq("a", "b"))
    // The excluded log has counted the previous archive.
    assert(counted(files("a"), kafka("k", ending, exact, none), files("b"), kafka("live", exact)) == Seq("b"))
  }

  test("an excluded log without a count of its previous legs does not limit the history of a later leg") {
    val all = chain(files("a"), kafka("k", ending, none), files("b"), kafka("live", exact))
    assert(all.countsBefore(all("k")).map(_.name) == Seq("live"), "'a' is still counted")
    val ended = chain(files("a"), kafka("k", ending, exact, none), files("b"), kafka("live", exact))
    assert(ended.countsBefore(ended("k")).map(_.name) == Seq("k"))
  }

  test("a user-defined rule with columns also counts legs") {
    val custom = this.custom :+ ("handOver.offset" -> "old_offset")
    assert(counted(files("ref", none), files("old"), kafka("live", custom: _*)) == Seq("old"))
    val all = chain(files("a"), kafka("k", custom ++ Seq(ending, none): _*), files("b"), kafka("live", exact))
    assert(all.history(all("k")).map(_.name) == Seq("a") && all.history(all("live")).map(_.name) == Seq("b"))
    refused("live.handOver, a.logColumns")(chain(files("a", none), kafka("live", custom: _*)))
  }

  test("a rule that counts no leg is rejected before anything is read") {
    refused("live.handOver", "history.logColumns", "each of these legs is excluded", "such as 'eventTime'") {
      chain(files("history", none), kafka("live", exact))
    }
    // A rule by times cannot follow a log.
    refused("live.handOver, a.logColumns, k.logColumns", "such as 'nowMinus'") {
      chain(files("a", none), kafka("k", ending, none), kafka("live", exact))
    }
    refused("live.handOver, k.logColumns")(chain(files("a"), kafka("k", ending, exact, none), kafka("live", exact)))
  }

  test("logColumns of a leg that reads a log can only be none") {
    refused("'k.logColumns'", columns._2, "leg 'k' reads a log", "only 'none' is allowed") {
      chain(kafka("k", ending, columns), kafka("live", exact))
    }
  }

  test("columns that no hand-over uses are rejected") {
    Seq(columns, none).foreach { own =>
      refused("history.logColumns", "no later leg begins by the offsets", "remove the option") {
        chain(files("history", own), kafka("live", timed: _*))
      }
    }
    refused("live.logColumns")(chain(files("history"), kafka("live", exact, none)))
    // The log between both archives limits the history of the last leg.
    refused("a.logColumns")(chain(files("a", columns), kafka("k", ending), kafka("live", exact)))
  }

  private val byEvent  = Seq("handOver" -> "eventTime", "handOver.column" -> "ts", "handOver.overlap" -> "1h")
  private val modified = Seq("handOver" -> "modificationTime", "handOver.overlap" -> "1h")
  private val custom   = Seq("handOver" -> "custom", "handOver.class" -> classOf[FromTheFirst].getName)

  test("a rule by the times of a previous leg that reads a log is rejected before anything is read") {
    val writer  = Seq("handOver" -> "writerCheckpoint", "handOver.checkpoint" -> "/writer")
    val byTimes = Seq("eventTime" -> byEvent, "modificationTime" -> modified, "writerCheckpoint" -> writer)
    byTimes.foreach { case (rule, options) =>
      val all = chain(files("a"), kafka("k", ending), kafka("live", options: _*))
      refused(s"'$rule'", "'live.handOver'", "Use offsets, nowMinus or custom", "'k' reads a log")(all)
      EvidenceCheck(all.copy(decided = Map("live" -> false)))
      EvidenceCheck(chain(kafka("k", ending), files("a"), kafka("live", options: _*)))
    }
    refused("live.handOver.column", "'ts'", "'k' reads a log", "remove") {
      chain(kafka("k", ending), kafka("live", custom :+ ("handOver.column" -> "ts"): _*))
    }
    EvidenceCheck(chain(kafka("k", ending), kafka("live", timed: _*)))
    EvidenceCheck(chain(kafka("k", ending), kafka("live", custom: _*)))
  }

  test("columns of a rule that counts only a log are rejected before anything is read") {
    Seq(Seq(exact), custom).foreach { rule =>
      val other = Seq("handOver.topic" -> "t", "handOver.offset" -> "o")
      refused("live.handOver.topic, live.handOver.offset", "only leg 'k', which reads a log", "remove these options") {
        chain(files("a"), kafka("k", ending), kafka("live", rule ++ other: _*))
      }
      val equal = Seq("handOver.topic" -> "Topic", "handOver.partition" -> "partition")
      assert(counted(kafka("k", ending), kafka("live", rule ++ equal: _*)) == Seq("k"))
      assert(counted(kafka("k", ending), files("a"), kafka("live", rule ++ other: _*)) == Seq("k", "a"))
      assert(counted(files("a"), kafka("k", ending, none), kafka("live", rule ++ other: _*)) == Seq("a"))
    }
  }

  private def timed = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")

  test("the options of an ended leg and the rule of a started leg are not checked") {
    Seq[(Seq[(String, String)], Seq[(String, String)])](
      Seq(none)    -> Seq(exact),
      Seq(none)    -> timed,
      Seq(columns) -> timed,
      Seq(columns) -> Nil
    ).foreach { case (before, rule) =>
      val all = chain(files("history", before: _*), kafka("live", rule: _*))
      intercept[SpliceOptionException](EvidenceCheck(all))
      EvidenceCheck(all.copy(decided = Map("live" -> true)))
    }
    val log = chain(kafka("k", ending, columns), kafka("live", exact))
    intercept[SpliceOptionException](EvidenceCheck(log))
    EvidenceCheck(log.copy(decided = Map("live" -> true)))
    // The current leg is checked.
    val both =
      chain(files("a", columns), kafka("k", ending, none), kafka("live", timed: _*)).copy(decided = Map("k" -> true))
    refused("k.logColumns", "no later leg")(both)
    refused("live.handOver, a.logColumns, k.logColumns") {
      chain(files("a", none), kafka("k", ending, none), kafka("live", exact)).copy(decided = Map("k" -> false))
    }
  }

  test("the count of a later rule depends on the stored rule of a started log, and not on its configured rule") {
    def history(rule: Seq[(String, String)], decided: Boolean): Seq[String] = {
      val all = chain(files("a"), kafka("k", rule ++ Seq(ending, none): _*), files("b"), kafka("live", exact))
        .copy(decided = Map("k" -> decided))
      val by = if (!decided) Some("live") else Option.when(rule == Seq(exact))("k")
      assert(all.counting(all("a")).map(_._1.name) == by)
      all.history(all.last).map(_.name)
    }
    Seq(Seq(exact), timed, Nil).foreach { rule =>
      assert(history(rule, decided = true) == Seq("b"))
      assert(history(rule, decided = false) == Seq("a", "b"))
    }
  }

  test("the builder sets logColumns of the leg") {
    val log                        = Legs.log()
    val history                    = SourceSpec(ListMap.from(MemoryOptions.of(log, "bounded" -> "true")))
    val live                       = SourceSpec(ListMap.from(MemoryOptions.of(log)))
    def built(columns: LogColumns) = HybridSource
      .builder("old", history)
      .addSource("new", history)
      .addSource("live", live, HandOver.offsets())
      .logColumns("old", columns)
      .build()
      .options("old.logColumns")
    assert(built(LogColumns.none) == "none")
    assert(built(LogColumns.of("t", "p", "o")) == columns._2)
  }
}
