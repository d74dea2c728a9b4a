// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.{Clock, Instant, ZoneOffset}
import java.util.UUID

import scala.util.Using

import org.apache.hadoop.fs.Path
import org.scalatest.LoneElement.convertToCollectionLoneElementWrapper
import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.internal.options.{HandOverOptions, HandOverRules}
import splice.hybrid.{HandOver, HandOverRule, HybridWorlds, Legs}
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.entries.Json
import splice.source.options.SourceOptions
import splice.source.runtime.SideLog
import splice.testkit.internal.memory.MemoryLog

final class CustomHandOverSuite extends AnyFunSuite with HybridWorlds {

  /** History with the first three of six records, and a user-defined rule. Both partitions have offsets 0 to 2.
    */
  private trait Ruled extends World {
    private val name: String     = s"rule-${UUID.randomUUID()}"
    var evidence: Vector[String] = Vector.empty

    def options: Seq[(String, String)] = Nil
    def response: String
    override def rule: Seq[(String, String)] = Seq("handOver" -> "custom", "handOver.python" -> name) ++ options
    def from(offsets: (Int, Long)*): String  =
      offsets.map { case (p, o) => s""""$p":$o""" }.mkString(s"""{"offsets":{"${live.name}":{""", ",", "}}}")
    private val clock: Clock = Clock.fixed(Instant.ofEpochSecond(5), ZoneOffset.UTC)

    HandOverRules.register(
      name,
      (found: String) => {
        evidence :+= found
        response
      }
    )

    def rows(): Seq[Seq[Long]] =
      Using.resource(Legs.run(source, log, clock))(c => batches(c).map(b => ids(c.ranges(b._1, b._2))))
    def refused(): SpliceException  = intercept[SpliceException](rows())
    def switch: Option[Seq[String]] = log.scope("leg-live").get("hand-over-00000000")
  }

  test("the rule receives the evidence and returns the start offsets") {
    new Ruled {
      override def response: String               = from(0 -> 1, 1 -> 2)
      override val options: Seq[(String, String)] = Seq("handOver.offset" -> "offset", "handOver.column" -> "timestamp")
      assert(rows() == Seq(Seq(0, 1, 2), Seq(2, 4, 5)))
      val found = Json.read(evidence.loneElement).get
      assert(Json.fields(found).map(_._1) ==
        Seq("ended", "eventTimes", "leg", "log", "modificationTimes", "now", "offsets"))
      def at(path: String): String = Json.write(found.at(path))
      assert(at("/ended/leg") == "\"history\"" && at("/leg") == "\"live\"" && at("/now") == "5000")
      assert(at("/ended/position") == s"""{"log":"${history.name}","next":[[0,3]]}""")
      assert(at("/eventTimes") == """{"first":0,"last":2000}""")
      assert(at("/log") == s"""{"${live.name}":{"0":[0,3],"1":[0,3]}}""")
      assert(at("/offsets/0/topic") == s"\"${live.name}\"" && at("/offsets/0/until") == "2")
      assert(at("/offsets/0/legs") == """[{"leg":"history","offsets":2,"range":[0,2],"rows":2}]""")
      assert(at("/offsets/1/partition") == "1" && at("/offsets/1/until") == "1")
      assert(switch.exists(_.head.contains("handOver=custom")))
    }
  }

  test("a rule can return a time, and only columns of the rule are counted") {
    new Ruled {
      override def response: String = """{"timestamp":3500}"""
      assert(rows() == Seq(Seq(0, 1, 2), Seq(4, 5)))
      assert(history.requested("remaining") == 0)
      assert(Json.fields(Json.read(evidence.loneElement).get).map(_._1) ==
        Seq("ended", "leg", "log", "modificationTimes", "now"))
    }
  }

  test("a rule can return a position in the format of the source, as an object or as an unchanged text") {
    def positioned(quoted: String => String) = new Ruled {
      private val position          = s"""{"log":"${live.name}","next":[[0,2],[1,3]]}"""
      override def response: String = s"""{"position":${quoted(position)}}"""
      assert(rows() == Seq(Seq(0, 1, 2), Seq(4)))
      assert(switch.exists(lines => lines.head.contains("\"start\":\"position\"") && lines.contains(position)))
    }
    positioned(identity)
    positioned(Json.quoted)
  }

  test("a partition without a returned offset is read from its first record") {
    new Ruled {
      live.forget(1, 1)
      override def response: String = from(0 -> 3)
      assert(rows() == Seq(Seq(0, 1, 2), Seq(3, 5)))
    }
  }

  test("a stored switch is not decided again, and a rule is called again if its start was not stored") {
    new Ruled {
      override def response: String = from(0 -> (2L - math.min(evidence.size - 1, 1)), 1 -> 1)
      val stops: StoppingLog        = new StoppingLog(log, "hand-over-")
      intercept[IllegalStateException](Using.resource(Legs.run(source, stops))(batches(_)))
      assert(evidence.size == 1 && switch.isEmpty)
      assert(rows() == Seq(Seq(0, 1, 2), Seq(2, 3, 4, 5)))
      assert(evidence.size == 2)
      assert(rows() == Seq(Seq(0, 1, 2), Seq(2, 3, 4, 5)))
      assert(evidence.size == 2)
    }
  }

  /** Side log that fails before it creates an entry. */
  final private class StoppingLog(inner: SideLog, prefix: String) extends SideLog {
    override def get(key: String): Option[Seq[String]] = inner.get(key)
    override def keys(start: String): Seq[String]      = inner.keys(start)
    override def remove(key: String): Unit             = inner.remove(key)
    override def scope(name: String): SideLog          = new StoppingLog(inner.scope(name), prefix)
    override def folder(name: String): Path            = inner.folder(name)
    override def getOrCreate(key: String)(lines: => Seq[String]): Seq[String] =
      inner.getOrCreate(key) {
        val all = lines
        if (key.startsWith(prefix)) throw new IllegalStateException("killed") else all
      }
  }

  test("an exception of the rule is an error with its cause, and nothing is stored") {
    new Ruled {
      override def response: String = throw new IllegalArgumentException("no table of starts")
      val error: SpliceException    = refused()
      assert(error.getCondition == "SPLICE_HAND_OVER.RULE_FAILED")
      assert(error.getMessage.contains("java.lang.IllegalArgumentException: no table of starts"))
      assert(error.getMessage.contains("Python function rule") && error.getMessage.contains("Leg 'live'"))
      assert(error.getCause.getMessage == "no table of starts" && switch.isEmpty)
    }
  }

  test("the error for an invalid start has the rule, the value and the reason") {
    val far = "9" * 30
    Seq[(String, String)](
      "soon"                               -> "the result must be a JSON object",
      "{}"                                 -> "the result must be a JSON object",
      """{"offsets":{},"timestamp":1}"""   -> "the result must be a JSON object",
      """{"timestamp":"1"}"""              -> "'timestamp' is \"1\"",
      """{"timestamp":-1}"""               -> "'timestamp' is -1",
      s"""{"timestamp":$far}"""            -> s"'timestamp' is $far",
      """{"timestamp":5001}"""             -> "1970-01-01T00:00:05.001Z, after now (1970-01-01T00:00:05Z)",
      """{"offsets":[1]}"""                -> "'offsets' must have an object",
      """{"offsets":{"LIVE":5}}"""         -> "'offsets' must have an object",
      """{"offsets":{"LIVE":{"x":1}}}"""   -> "must be whole numbers",
      """{"offsets":{"LIVE":{"0":-1}}}"""  -> "must be whole numbers",
      """{"offsets":{"LIVE":{"0":1.5}}}""" -> "must be whole numbers",
      """{"offsets":{"LIVE":{"7":1}}}"""   -> "'live' does not read LIVE-7; the leg reads LIVE-0, LIVE-1",
      """{"offsets":{"other":{"0":1}}}"""  -> "'live' does not read other-0",
      """{"offsets":{"LIVE":{"0":4}}}"""   -> "offset 4 of LIVE-0 is after the end of the log, 3"
    ).foreach { case (text, why) =>
      new Ruled {
        override def response: String = text.replace("LIVE", live.name)
        val error: SpliceException    = refused()
        assert(error.getCondition == "SPLICE_HAND_OVER.INVALID_START", text)
        assert(error.getMessage.contains(why.replace("LIVE", live.name)), text)
        assert(error.getMessage.contains(s"returned '$response'") && switch.isEmpty)
      }
    }
  }

  test("the policy onGap applies to an offset before the start of the log") {
    new Ruled {
      live.forget(0, 2)
      override def response: String = from(0 -> 0, 1 -> 3)
      val error: SpliceException    = refused()
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.GAP" && error.getMessage.contains(s"${live.name}-0 0 to 1"))
    }
    new Ruled {
      live.forget(0, 2)
      override def own: Seq[(String, String)] = Seq("onGap" -> "warn")
      override def response: String           = from(0 -> 0, 1 -> 3)
      assert(rows() == Seq(Seq(0, 1, 2), Seq(4)))
    }
  }

  test("a user-defined rule receives duplicate records, but rows without offsets are an error") {
    new Ruled {
      override val options: Seq[(String, String)] = Seq("handOver.topic" -> "topic")
      history.archive(0, live.read(0, 0, 1).head)
      override def response: String = from(0 -> 3, 1 -> 3)
      assert(rows().head == Seq(0, 0, 1, 2))
      assert(Json.read(evidence.loneElement).get.at("/offsets/0/repeated/offsets").asInt == 1)
    }
  }

  test("the driver creates a rule class at the switch") {
    new World {
      override def rule: Seq[(String, String)] = HandOver.custom(classOf[FromTheFirst]).options
      Using.resource(Legs.run(source, log))(c =>
        assert(batches(c).map(b => ids(c.ranges(b._1, b._2))).last == (0L to 5L))
      )
    }
    Seq(
      HandOver.custom(classOf[FromTheFirst]),
      HandOver.custom(classOf[FromTheFirst]).withOffsets("a", "b", "c"),
      HandOver.custom(classOf[FromTheFirst]).withEventTime("ts")
    ).foreach { rule =>
      assert(HandOverOptions.parse(SourceOptions(rule.options.toMap)).contains(rule))
    }
  }

  test("an invalid rule class is rejected with its option") {
    def refused(more: (String, String)*): String = intercept[SpliceOptionException](
      HandOverOptions.parse(SourceOptions((more :+ ("handOver" -> "custom")).map { case (k, v) =>
        s"live.$k" -> v
      }.toMap)
        .scope("live"))
    ).getMessage
    assert(refused().contains("'live.handOver.class' is missing"))
    Seq("no.such.Rule", classOf[MemoryLog].getName, classOf[WithArgument].getName).foreach { name =>
      val text = refused("handOver.class" -> name)
      assert(text.contains(s"'$name' is not a valid value of option 'live.handOver.class'") &&
        text.contains("implements splice.hybrid.HandOverRule"))
    }
    assert(refused(
      "handOver.class"  -> classOf[FromTheFirst].getName,
      "handOver.python" -> "f"
    ).contains("name the rule twice"))
    assert(refused(
      "handOver.class" -> classOf[FromTheFirst].getName,
      "onHoles"        -> "fill"
    ).contains("'live.onHoles' belongs to"))
  }

  test("the error names a function of another process, and the rule has no process-specific name") {
    new World {
      override def rule: Seq[(String, String)] = Seq("handOver" -> "custom", "handOver.python" -> "start-0a1b2c3d")
      val error: SpliceException = intercept[SpliceException](Using.resource(Legs.run(source, log))(batches(_)))
      assert(error.getCondition == "SPLICE_HAND_OVER.RULE_FAILED")
      assert(error.getMessage.contains("Python function start, failed") && error.getMessage.contains("Run the program"))
    }
    def text(name: String) = HandOver.text(HandOverOptions.parse(
      SourceOptions(Map("handOver" -> "custom", "handOver.python" -> name))
    ))
    assert(text("start-0a1b2c3d") == text("start-ffffffff") && text("start-0a1b2c3d") != text("other-0a1b2c3d"))
    assert(text("start") == "handOver=custom handOver.python=start" && text("a-b-0a1b2c3d").endsWith("=a-b"))
  }
}

/** Rule that starts at the first record. */
final class FromTheFirst extends HandOverRule {
  override def start(evidence: String): String = """{"timestamp":0}"""
}

/** Rule without a constructor without arguments. */
final class WithArgument(response: String) extends HandOverRule {
  override def start(evidence: String): String = response
}
