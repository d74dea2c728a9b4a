// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.options

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.Legs
import splice.hybrid.internal.handover.FromTheFirst
import splice.source.errors.SpliceOptionException
import splice.source.options.CommonOptions
import splice.source.{Position, Source}
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.MemoryOptions

final class ChainParserSuite extends AnyFunSuite {

  private val log     = Legs.log()
  private val history = Legs.history(log)
  private val live    = Legs.live(log)
  private val good    = Legs.options(history, live)

  private def names(source: Source[_ <: Position]): Seq[String] = source.legs(new MemorySideLog).flatMap(_.name)

  private def refused(options: Map[String, String]): SpliceOptionException =
    intercept[SpliceOptionException](Legs.source(options))

  private def refuses(options: Map[String, String], condition: String, texts: String*): Unit = {
    val error = refused(options)
    assert(error.getCondition == condition, error.getMessage)
    texts.foreach(text => assert(error.getMessage.contains(text), error.getMessage))
  }

  test("a chain of two legs is parsed") {
    val source = Legs.source(good)
    assert(source.kind == "hybrid")
    assert(names(source) == Seq("history", "live"))
    assert(source.boundedness == splice.source.runtime.Boundedness.ContinuousUnbounded)
    assert(Legs.source(Legs.options(history)).boundedness == splice.source.runtime.Boundedness.Bounded)
  }

  test("the option legs is required") {
    refuses(good - "legs", "SPLICE_OPTION.MISSING", "'legs'")
    refuses(good + ("legs" -> "history,,live"), "SPLICE_OPTION.INVALID_VALUE", "'legs'", "history,live")
    refuses(good + ("legs" -> ""), "SPLICE_OPTION.INVALID_VALUE", "'legs'")
  }

  test("names of legs may have spaces around them") {
    assert(names(Legs.source(good + ("legs" -> " history ,\tlive "))) == Seq("history", "live"))
  }

  test("leg names are checked") {
    def named(name: String) = Legs.options(name -> history._2, live)
    refuses(named("1st"), "SPLICE_HYBRID.INVALID_LEG_NAME", "'1st'", "begins with a letter")
    refuses(named("a-b"), "SPLICE_HYBRID.INVALID_LEG_NAME", "'a-b'", "underscores only")
    refuses(named("Live"), "SPLICE_HYBRID.INVALID_LEG_NAME", "'Live' and 'live'", "differ only in the case")
    assert(names(Legs.source(named("Raw_2019"))) == Seq("Raw_2019", "live"))
  }

  test("a leg may have the name of an option, because options of legs contain a dot") {
    Seq("Kafka", "handOver", "legs", "source", "path", "slots", "schema", "onUnknownOption", "initial").foreach {
      name =>
        val named = Legs.options(name -> history._2, live)
        assert(names(Legs.source(named)) == Seq(name, "live"))
        refuses(named + (s"$name.maxRow" -> "1"), "SPLICE_OPTION.UNKNOWN", s"'$name.maxRow'", s"'$name.maxRows'")
    }
    val kafka = Legs.options("kafka" -> history._2, live) + ("kafka.bootstrap.servers" -> "broker:9092")
    refuses(kafka, "SPLICE_OPTION.UNKNOWN", "'kafka.bootstrap.servers'")
  }

  test("no option of a chain has a dot, so no name of a leg collides with an option of this or a later release") {
    val ofChain = (HybridOptions.set.options ++ CommonOptions.set.options).map(_.key)
    assert(ofChain.filter(_.contains('.')).isEmpty)
  }

  test("the case of keys is ignored") {
    assert(names(Legs.source(good.map { case (k, v) => k.toUpperCase -> v })) == Seq("history", "live"))
  }

  test("the error for an unknown option has the leg and the most similar option") {
    refuses(good + ("live.maxRow"       -> "1"), "SPLICE_OPTION.UNKNOWN", "'live.maxRow'", "'live.maxRows'")
    refuses(good + ("live.handOvr"      -> "offsets"), "SPLICE_OPTION.UNKNOWN", "'live.handOvr'", "'live.handOver'")
    refuses(good + ("lve.maxRows"       -> "1"), "SPLICE_OPTION.UNKNOWN", "'lve.maxRows'", "'live.maxRows'")
    refuses(good + ("lgs"               -> "1"), "SPLICE_OPTION.UNKNOWN", "'lgs'", "'legs'")
    refuses(good + ("live.qqqqqqqqqqqq" -> "1"), "SPLICE_OPTION.UNKNOWN", "'live.qqqqqqqqqqqq'")
  }

  test("unknown options are accepted if unknownOptions of the hybrid is warn") {
    val warned = good + ("onUnknownOption" -> "warn")
    assert(names(Legs.source(warned + ("live.maxRow" -> "1") + ("lve.x" -> "1") + ("lgs" -> "1"))).size == 2)
    refuses(
      warned + ("live.onUnknownOption" -> "fail") + ("live.maxRow" -> "1"),
      "SPLICE_OPTION.UNKNOWN",
      "live.maxRow"
    )
  }

  test("an error or a warning names each unknown option") {
    val wrong = good + ("lve.x" -> "1") + ("lve.maxRows" -> "1")
    refuses(wrong, "SPLICE_OPTION.UNKNOWN", "'lve.x' is also unknown", "'lve.maxRows' is unknown", "'live.maxRows'")
    refuses(good + ("live.maxRow" -> "1") + ("live.qqq" -> "1"), "SPLICE_OPTION.UNKNOWN", "'live.maxRow'", "'live.qqq'")
    val more   = Seq("onUnknownOption" -> "warn", "live.maxRow" -> "1", "live.qqq" -> "1", "lgs" -> "1", "lggs" -> "1")
    val logged = LoggedMessages.during("splice.source.options")(Legs.source(wrong ++ more))._2
    Seq("lve.x", "lve.maxRows", "live.maxRow", "live.qqq", "lgs", "lggs").foreach { key =>
      assert(logged.count(_.contains(s"The option '$key' is unknown")) == 1, s"$key: $logged")
    }
  }

  test("errors of a leg name the option with the prefix of the leg") {
    refuses(good + ("live.maxRows" -> "none"), "SPLICE_OPTION.INVALID_VALUE", "'live.maxRows'", "'none'")
    refuses(good - "live.log", "SPLICE_OPTION.MISSING", "'live.log'")
    refuses(good - "live.source", "SPLICE_OPTION.MISSING", "'live.source'")
    refuses(good + ("live.source" -> "carrier"), "SPLICE_OPTION.INVALID_VALUE", "'live.source'", "'carrier'", "memory")
    refuses(good + ("live.select" -> "  "), "SPLICE_OPTION.INVALID_VALUE", "'live.select'")
  }

  test("every leg except the last must be bounded") {
    refuses(
      Legs.options("history" -> MemoryOptions.of(log), live),
      "SPLICE_HYBRID.UNBOUNDED_LEG",
      "Leg 'history' is unbounded",
      "never read leg 'live'",
      "'history.endingOffsets'"
    )
  }

  test("a leg in the middle must be bounded") {
    refuses(
      Legs.options(history, "middle" -> MemoryOptions.of(log), live),
      "SPLICE_HYBRID.UNBOUNDED_LEG",
      "Leg 'middle' is unbounded",
      "never read leg 'live'"
    )
  }

  test("a hybrid source is not a valid leg") {
    refuses(
      good + ("live.source" -> "hybrid"),
      "SPLICE_HYBRID.NESTED_HYBRID",
      "'live.source'",
      "Add the legs of leg 'live'"
    )
  }

  test("a hand-over of the first leg is rejected") {
    refuses(good + ("history.handOver" -> "offsets"), "SPLICE_OPTION.CONFLICT", "history.handOver", "the first leg")
  }

  test("a hand-over and a start option of the same leg are mutually exclusive") {
    refuses(
      good + ("live.handOver" -> "offsets") + ("live.startingOffsets" -> "latest"),
      "SPLICE_OPTION.CONFLICT",
      "live.handOver, live.startingOffsets",
      "set the start of the leg twice"
    )
  }

  test("an exact hand-over to a source that does not read a log is rejected at build") {
    val files = Seq("source" -> "files", "format" -> "parquet", "path" -> "/lake/orders")
    refuses(
      Legs.options(history, "archive" -> (files :+ "handOver" -> "offsets")),
      "SPLICE_HAND_OVER.NO_LOG",
      "'archive.handOver'",
      "'files'",
      "does not read a log"
    )
    val custom = Seq("handOver" -> "custom", "handOver.class" -> classOf[FromTheFirst].getName)
    refuses(
      Legs.options(history, "archive" -> (files ++ custom)),
      "SPLICE_HAND_OVER.NO_LOG",
      "'archive.handOver'",
      "'files'",
      "does not read a log"
    )
    val kafka = Seq("source" -> "kafka", "subscribe" -> "t", "kafka.bootstrap.servers" -> "broker:9092")
    assert(names(Legs.source(Legs.options(history, "live" -> (kafka :+ "handOver" -> "offsets")))).size == 2)
  }

  test("a hand-over by time to a source that always begins at its first row is rejected at build") {
    val files = Seq("source" -> "files", "format" -> "parquet", "path" -> "/lake/orders")
    Seq(
      "nowMinus"         -> Seq("handOver.duration" -> "1h"),
      "modificationTime" -> Seq("handOver.overlap" -> "1h"),
      "eventTime"        -> Seq("handOver.overlap" -> "1h", "handOver.column" -> "timestamp")
    ).foreach { case (rule, more) =>
      refuses(
        Legs.options(history, "archive" -> (files ++ more :+ "handOver" -> rule)),
        "SPLICE_HAND_OVER.TIME_NOT_SUPPORTED",
        s"'archive.handOver' is '$rule'",
        "the source 'files' of leg 'archive' cannot start at a time",
        "Remove 'archive.handOver'"
      )
    }
  }

  test("slots of a single leg are rejected") {
    refuses(good + ("live.slots" -> "4"), "SPLICE_OPTION.CONFLICT", "live.slots", "without the name of a leg")
    assert(names(Legs.source(good + ("slots" -> "4"))).size == 2)
  }

  test("the schema must be DDL") {
    refuses(good + ("schema" -> "id BIGINTEGER"), "SPLICE_OPTION.INVALID_VALUE", "'schema'", "id BIGINTEGER")
  }
}
