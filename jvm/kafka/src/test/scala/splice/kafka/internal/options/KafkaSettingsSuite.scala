// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.Place
import splice.source.errors.SpliceOptionException
import splice.source.options.SourceOptions
import splice.source.{Limits, LogPartition}

/** Tests of valid options and of the errors for invalid options. */
final class KafkaSettingsSuite extends AnyFunSuite {

  private val servers = "kafka.bootstrap.servers" -> "one:9092,two:9092"
  private val topics  = "subscribe"               -> "b, a"

  private def settings(options: (String, String)*) = KafkaSettings(SourceOptions(Map(options: _*)))

  private def refused(options: (String, String)*): String =
    intercept[SpliceOptionException](settings((servers +: options): _*)).getMessage

  private def reader(client: ClientProperties): Map[String, Object] =
    client.reader("run-1", client.limited(ReadLimits(4, 1 << 20, 1 << 20, 500, 1 << 20)))

  test("the defaults equal the defaults of Spark's source") {
    val s = settings(servers, topics)
    assert(s.subscription == Subscription.Topics(SortedSet("a", "b")))
    assert(s.start.isEmpty && s.ending.isEmpty)
    assert(s.limits == Limits.Limited(maxDelay = Duration.ofMinutes(15)))
    assert(s.failOnDataLoss && !s.includeHeaders)
    assert(s.pollTimeout.isEmpty && s.retries == 3 && s.retryInterval == Duration.ofSeconds(1))
  }

  test("option keys are case-insensitive") {
    assert(settings("KAFKA.bootstrap.SERVERS" -> "one:9092", "SubScribe" -> "a").client.servers == "one:9092")
    val client = settings(servers, topics, "Kafka.Group.Id" -> "g", "kafka.my.pluginSetting" -> "x").client
    assert(client.group.contains("g") && client.properties.contains("my.pluginSetting"))
    assert(refused(topics, "KAFKA.Auto.Offset.Reset" -> "latest").contains("Auto.Offset.Reset"))
  }

  test("the bootstrap servers are required") {
    assert(
      intercept[SpliceOptionException](settings(topics)).getMessage.contains("'kafka.bootstrap.servers' is missing")
    )
  }

  test("a pattern matches a part of the topic name, as in Spark's source") {
    def covers(pattern: String, topic: String) =
      settings(servers, "subscribePattern" -> pattern).subscription.covers(LogPartition(topic, 0))
    assert(covers(" rder ", "orders") && covers("^orders$", "orders") && !covers("^orders$", "orders-late"))
  }

  test("exactly one of subscribe, subscribePattern and assign is required") {
    val none = refused()
    assert(Seq("subscribe", "subscribePattern", "assign").forall(o => none.contains(s"'$o'")))
    val two = refused(topics, "assign" -> """{"a":[0]}""")
    assert(two.contains("subscribe, assign"))
    val leg = intercept[SpliceOptionException](
      KafkaSettings(SourceOptions(Map(
        "live.kafka.bootstrap.servers" -> "x:1",
        "live.subscribe"               -> "a",
        "live.assign"                  -> "{}"
      )).scope("live"))
    )
    assert(leg.getMessage.contains("live.subscribe, live.assign"))
  }

  test("the text of a subscription is canonical") {
    def text(option: (String, String)) = settings(servers, option).subscription.text
    assert(text("subscribe" -> " b,a,b") == "subscribe=a,b")
    assert(text("subscribePattern" -> "o.*") == "subscribePattern=o.*")
    assert(text("assign" -> """{"b":[2,0],"a":[1]}""") == "assign=a:1;b:0,2")
  }

  test("invalid subscriptions are rejected with their option") {
    assert(refused("subscribe" -> " , ").contains("'subscribe'"))
    assert(refused("subscribePattern" -> "a(").contains("'a(' is not a valid value of option 'subscribePattern'"))
    Seq("{}", "[0]", """{"a":["0"]}""", """{"a":[-1]}""", "a").foreach(text =>
      assert(refused("assign" -> text).contains("'assign'"), text)
    )
  }

  test("the options of the start have the precedence timestamp, timestamps, offsets") {
    def start(options: (String, String)*) = settings(Seq(servers, topics) ++ options: _*).start
    val at                                = SortedMap(LogPartition("a", 0) -> 23L, LogPartition("a", 1) -> -1L)
    val words                             = Seq("startingOffsets" -> """{"a":{"0":23,"1":-1}}""")
    val times                             = words :+ ("startingOffsetsByTimestamp" -> """{"a":{"0":7}}""")
    assert(start("startingOffsets" -> "Earliest").contains(Place.Earliest))
    assert(start(words: _*).contains(Place.Exact(at)))
    val each = Place.AtTimes(SortedMap(LogPartition("a", 0) -> 7L), None)
    assert(start(times: _*).contains(each))
    val strategy = "startingOffsetsByTimestampStrategy" -> "latest"
    val latest   = start(times ++ Seq("startingTimestamp" -> "9", strategy): _*)
    assert(latest.contains(Place.At(Instant.ofEpochMilli(9), otherwise = Some(Place.Latest))))
  }

  test("a start at committed offsets needs a group") {
    assert(refused(topics, "startingOffsets" -> "committed").contains("'kafka.group.id' is missing"))
    val s =
      settings(
        servers,
        topics,
        "startingOffsets"     -> "committed",
        "kafka.group.id"      -> "g",
        "onNoCommittedOffset" -> "latest"
      )
    assert(s.start.contains(Place.Committed(Some(Place.Latest))))
  }

  test("invalid starts and ends are rejected") {
    Seq("soon", """{"a":{"0":-3}}""", """{"a":{"x":1}}""", """{"a":{"0":"1"}}""", "{}").foreach { text =>
      assert(refused(topics, "startingOffsets" -> text).contains("'startingOffsets'"), text)
    }
    Seq("earliest", """{"a":{"0":-2}}""").foreach { text =>
      assert(refused(topics, "endingOffsets" -> text).contains("'endingOffsets'"), text)
    }
    assert(refused(
      topics,
      "startingTimestamp" -> "-5"
    ).contains("'-5' is not a valid value of option 'startingTimestamp'"))
  }

  test("the minimum of a batch must not exceed its maximum") {
    val text = refused(topics, "minOffsetsPerTrigger" -> "10", "maxOffsetsPerTrigger" -> "9")
    assert(text.contains("minOffsetsPerTrigger, maxOffsetsPerTrigger"))
  }

  test("properties that would break the source are rejected with the reason") {
    val properties =
      Seq(
        "auto.offset.reset",
        "key.deserializer",
        "value.deserializer",
        "enable.auto.commit",
        "interceptor.classes",
        "Enable.Auto.Commit"
      )
    properties.foreach(p => assert(refused(topics, s"kafka.$p" -> "x").contains(s"'kafka.$p' is not allowed: "), p))
    assert(refused(topics, "kafka.auto.offset.reset" -> "latest").contains("startingOffsets"))
  }

  test("no client creates topics") {
    val property = "allow.auto.create.topics"
    val plain    = settings(servers, topics).client
    val same     = settings(servers, topics, s"kafka.$property" -> "False").client
    Seq(plain, same).foreach { client =>
      assert(reader(client)(property) == "false" && client.driver("run-1")(property) == "false")
      assert(!client.admin.contains(property))
    }
    val text = refused(topics, s"kafka.$property" -> "true")
    assert(text.contains(s"'kafka.$property' is not allowed: ") && text.contains("deleted topic"))
  }

  test("client properties are forwarded and override the tuning of readers") {
    val client = settings(
      servers,
      topics,
      "kafka.max.poll.records" -> "7",
      "kafka.client.rack"      -> "r1",
      "groupIdPrefix"          -> "team"
    ).client
    val own = reader(client)
    assert(own("max.poll.records") == "7" && own("client.rack") == "r1" && own("group.id") == "team-run-1")
    assert(own("auto.offset.reset") == "none" && own("enable.auto.commit") == "false")
    assert(!client.admin.contains("max.poll.records"))
    assert(own("fetch.max.wait.ms") == "10" && own("max.partition.fetch.bytes") == (1 << 20).toString)
  }

  test("clients that read no records have no metric reporters, unless configured") {
    def clients(options: (String, String)*) = {
      val c = settings(Seq(servers, topics) ++ options: _*).client
      Seq(c.driver("run-1"), c.admin)
    }
    clients().foreach { own =>
      assert(own("metric.reporters") == "" && own("auto.include.jmx.reporter") == "false")
      assert(own("enable.metrics.push") == "false")
    }
    clients("kafka.metric.reporters" -> "team.Reporter", "kafka.enable.metrics.push" -> "true").foreach { own =>
      assert(own("metric.reporters") == "team.Reporter" && own("enable.metrics.push") == "true")
    }
    assert(!reader(settings(servers, topics).client).contains("metric.reporters"))
  }

  test("clients ask the bootstrap servers again if no known broker responds, unless configured") {
    def strategies(options: (String, String)*) = {
      val c = settings(Seq(servers, topics) ++ options: _*).client
      Seq(c.driver("run-1"), c.admin, reader(c)).map(_("metadata.recovery.strategy"))
    }
    assert(strategies() == Seq.fill(3)("rebootstrap"))
    assert(strategies("kafka.metadata.recovery.strategy" -> "none") == Seq.fill(3)("none"))
  }

  test("the timeout of the driver is the timeout that the user sets, for each property") {
    def timeouts(options: (String, String)*) = {
      val c = settings(Seq(servers, topics) ++ options: _*).client
      (c.timeoutMillis, c.admin("default.api.timeout.ms"), c.admin("request.timeout.ms"))
    }
    assert(timeouts() == ((60000, "60000", "30000")))
    assert(timeouts("kafka.default.api.timeout.ms" -> "5000") == ((5000, "5000", "5000")))
    assert(timeouts("kafka.request.timeout.ms" -> "4000") == ((4000, "4000", "4000")))
  }

  test("secrets are not printed") {
    val jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required password=\"hunter2\";"
    val s    = settings(servers, topics, "kafka.sasl.jaas.config" -> jaas, "kafka.ssl.keystore.password" -> "hunter2")
    assert(!s.toString.contains("hunter2") && s.toString.contains("one:9092"))
  }

  test("limits and the policy of a batch are parsed and checked") {
    val s = settings(servers, topics, "maxBytesPerTrigger" -> "64m", "admission" -> "EQUAL")
    assert(s.limits.bytes.contains(64L << 20) && s.admission == AdmissionPolicy.Equal)
    assert(settings(servers, topics).admission == AdmissionPolicy.Lag)
    assert(refused(topics, "admission" -> "oldest-first").contains("Use lag, equal, eventTime."))
  }
}
